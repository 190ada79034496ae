/* replay.c - gives each file named on the command line to a fuzz target once, without a fuzzer: any compiler
 * builds it, so that what was found once is tried at every check. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { INPUT_MOST = 1 << 20 };

int main(int count, char **names)
{
    static uint8_t bytes[INPUT_MOST];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(names[i], "rb");
        if (file == NULL) {
            perror(names[i]);
            return 1;
        }
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        /* A fault ends the program; the last name on standard output is the input that did it. */
        printf("%s\n", names[i]);
        fflush(stdout);
        LLVMFuzzerTestOneInput(bytes, length);
    }
    return 0;
}
