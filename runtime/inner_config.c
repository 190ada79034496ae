#include "runtime/inner_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every field is a word that ends in NUL; numbers are decimal. */

static void put_word(struct buffer *out, const char *word)
{
    buffer_bytes(out, word, strlen(word) + 1);
}

static void put_number(struct buffer *out, uint64_t number)
{
    buffer_format(out, "%llu", (unsigned long long)number);
    buffer_byte(out, '\0');
}

void inner_config_write(struct buffer *out, const struct inner_config *config)
{
    uint32_t arguments = 0;

    put_number(out, (uint64_t)config->status);
    put_number(out, (uint64_t)config->go);
    for (int i = 0; i < 3; i++)
        put_number(out, (uint64_t)config->streams[i]);
    put_word(out, config->directory);
    put_number(out, config->directory_known);
    put_number(out, config->device);
    put_number(out, config->inode);
    for (int i = 0; i < NAMESPACES; i++)
        put_number(out, config->host_namespaces[i]);
    put_number(out, config->working_variable);
    for (int i = 0; i < 3; i++)
        put_number(out, config->terminal[i]);
    put_number(out, config->files_soft);
    put_number(out, config->files_hard);
    put_number(out, config->processes);
    put_number(out, config->before.stack_soft);
    put_number(out, config->before.mode_mask);
    put_number(out, config->time_seconds);
    put_number(out, config->mount_count);
    for (uint32_t i = 0; i < config->mount_count; i++) {
        put_word(out, config->mounts[i].path);
        put_number(out, config->mounts[i].expectation);
        put_word(out, config->mounts[i].type == NULL ? "" : config->mounts[i].type);
        put_number(out, config->mounts[i].optional);
        put_number(out, config->mounts[i].known);
        put_number(out, config->mounts[i].device);
        put_number(out, config->mounts[i].inode);
    }
    put_number(out, config->landlock_alone);
    put_number(out, config->rule_count);
    for (uint32_t i = 0; i < config->rule_count; i++) {
        put_word(out, config->rules[i].path);
        put_number(out, config->rules[i].rights);
        put_number(out, config->rules[i].known);
        put_number(out, config->rules[i].device);
        put_number(out, config->rules[i].inode);
    }
    while (config->arguments[arguments] != NULL)
        arguments++;
    put_number(out, arguments);
    for (uint32_t i = 0; i < arguments; i++)
        put_word(out, config->arguments[i]);
}

struct words {
    char *at, *end;
    bool damaged;
};

static char *take_word(struct words *words)
{
    static char nothing[1];
    char *word = words->at, *end = memchr(word, '\0', (size_t)(words->end - word));

    if (end == NULL) {
        words->damaged = true;
        return nothing;
    }
    words->at = end + 1;
    return word;
}

static uint64_t take_number(struct words *words)
{
    char *word = take_word(words), *end;
    uint64_t number;

    errno = 0;
    number = strtoull(word, &end, 10);
    if (errno != 0 || end == word || *end != '\0')
        words->damaged = true;
    return number;
}

/* A count of words that are still to come. */
static uint32_t take_count(struct words *words)
{
    uint64_t count = take_number(words);

    if (count > (uint64_t)(words->end - words->at))
        words->damaged = true;
    return words->damaged ? 0 : (uint32_t)count;
}

static const struct expected_mount *take_mounts(struct arena *arena, struct words *words, uint32_t count)
{
    struct expected_mount *mounts = arena_array(arena, count, sizeof *mounts);

    for (uint32_t i = 0; i < count; i++) {
        mounts[i].path = take_word(words);
        mounts[i].expectation = (enum mount_expectation)take_number(words);
        const char *type = take_word(words);
        mounts[i].type = *type == '\0' ? NULL : type;
        mounts[i].optional = take_number(words) != 0;
        mounts[i].known = take_number(words) != 0;
        mounts[i].device = (dev_t)take_number(words);
        mounts[i].inode = (ino_t)take_number(words);
    }
    return mounts;
}

static const struct landlock_rule *take_rules(struct arena *arena, struct words *words, uint32_t count)
{
    struct landlock_rule *rules = arena_array(arena, count, sizeof *rules);

    for (uint32_t i = 0; i < count; i++) {
        rules[i].path = take_word(words);
        rules[i].rights = (uint32_t)take_number(words);
        rules[i].known = take_number(words) != 0;
        rules[i].device = (dev_t)take_number(words);
        rules[i].inode = (ino_t)take_number(words);
    }
    return rules;
}

bool inner_config_read(struct arena *arena, char *bytes, size_t length, struct inner_config *config)
{
    struct words words = {.at = bytes, .end = bytes + length};

    *config = (struct inner_config){0};
    config->status = (int)take_number(&words);
    config->go = (int)take_number(&words);
    for (int i = 0; i < 3; i++)
        config->streams[i] = (int)take_number(&words);
    config->directory = take_word(&words);
    config->directory_known = take_number(&words) != 0;
    config->device = (dev_t)take_number(&words);
    config->inode = (ino_t)take_number(&words);
    for (int i = 0; i < NAMESPACES; i++)
        config->host_namespaces[i] = take_number(&words);
    config->working_variable = take_number(&words) != 0;
    for (int i = 0; i < 3; i++)
        config->terminal[i] = take_number(&words) != 0;
    config->files_soft = take_number(&words);
    config->files_hard = take_number(&words);
    config->processes = take_number(&words);
    config->before.stack_soft = take_number(&words);
    config->before.mode_mask = (mode_t)take_number(&words);
    config->time_seconds = take_number(&words);
    config->mount_count = take_count(&words);
    config->mounts = take_mounts(arena, &words, config->mount_count);
    config->landlock_alone = take_number(&words) != 0;
    config->rule_count = take_count(&words);
    config->rules = take_rules(arena, &words, config->rule_count);
    uint32_t count = take_count(&words);
    char **arguments = arena_array(arena, (size_t)count + 1, sizeof *arguments);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = take_word(&words);
    config->arguments = arguments;
    return !words.damaged && words.at == words.end;
}
