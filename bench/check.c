/* check.c - check POLICY.bin PATHS: nanoseconds that one sbx_check takes, over the paths in the file PATHS
 * (one a line), as the median of several rounds; then how many of the answers were "allow", so that none can
 * be left out.
 */
#include "policy/sbx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, CHECKS = 200000, PATHS = 4096, LONGEST = 4096 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static size_t read_paths(const char *name, char **paths)
{
    static char line[LONGEST];
    size_t count = 0;
    FILE *file = fopen(name, "r");
    while (file != NULL && count < PATHS && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        paths[count] = strdup(line);
        if (paths[count] == NULL)
            break;
        count++;
    }
    if (file != NULL)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    static char *paths[PATHS];
    struct sbx_error error;
    struct sbx_policy *policy = argc == 3 ? sbx_load(argv[1], &error) : NULL;
    size_t count = policy != NULL ? read_paths(argv[2], paths) : 0, allowed = 0;
    double rounds[ROUNDS];
    if (count == 0 || sbx_bind(policy, &(struct sbx_binding){.system = SBX_LINUX}, &error) != SBX_OK) {
        fprintf(stderr, "check: %s\n",
                policy == NULL ? error.message
                : count == 0   ? "no paths"
                               : error.message);
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (size_t i = 0; i < CHECKS; i++)
            allowed += sbx_check(policy, i % 2 == 0 ? SBX_READ : SBX_WRITE, paths[i % count]) == SBX_ALLOW;
        rounds[round] = (now() - start) / CHECKS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    printf("%.1f %zu\n", rounds[ROUNDS / 2], allowed);
    sbx_free(policy);
    return 0;
}
