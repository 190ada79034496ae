/* embed.c - a program that reads files for others and keeps to an sbx policy while it does.
 *
 *   embed POLICY.bin WORK FILE...
 *
 * Prints each FILE that the policy lets it read, and says which it may not. Exit 0 if it read all of them,
 * 1 if not, 2 if the policy cannot be used. */
#include <sbx.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int copy_to_output(const char *path)
{
    char bytes[4096];
    ssize_t count;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        perror(path);
        return 1;
    }
    while ((count = read(file, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)count, stdout);
    close(file);
    return count < 0;
}

/* The policy is asked about the path that links lead to, and that path is opened. */
static int show(const struct sbx_policy *policy, const char *name)
{
    char path[PATH_MAX];
    if (realpath(name, path) == NULL) {
        perror(name);
        return 1;
    }
    if (sbx_check(policy, SBX_READ, path) != SBX_ALLOW) {
        fprintf(stderr, "%s: not allowed by the policy %s\n", name, sbx_name(policy));
        return 1;
    }
    return copy_to_output(path);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: embed POLICY.bin WORK FILE...\n");
        return 2;
    }
    struct sbx_error error;
    struct sbx_policy *policy = sbx_load(argv[1], &error);
    const struct sbx_value root = {"WORK", argv[2]};
    const struct sbx_binding binding = {.this_host = true, .roots = &root, .root_count = 1};
    if (policy == NULL || sbx_bind(policy, &binding, &error) != SBX_OK) {
        fprintf(stderr, "%s\n", error.message);
        sbx_free(policy);
        return 2;
    }
    int failed = 0;
    for (int i = 3; i < argc; i++)
        failed |= show(policy, argv[i]);
    sbx_free(policy);
    return failed;
}
