#include "emitters/windows_spec.h"

#include "base/escape.h"

#include <string.h>
#include <utf8proc.h>

enum { PATH_LIMIT = 32000 };

/* The roots that the launcher of Windows binds. */
static const char *const path_roots[] = {"$WORK", "$HOME", "$TMP",    "$CONFIG",     "$CACHE",
                                         "$DATA", "$REPO", "$GITDIR", "$SUBMODULES", "$GITDIRS"};

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* ---- names without case ---- */

/* As NTFS does it: one character for one, and nothing outside ASCII is an ASCII letter's other case. */
static int32_t upper(int32_t character)
{
    if (character < 0x80)
        return character >= 'a' && character <= 'z' ? character - ('a' - 'A') : character;
    int32_t above = character > 0xffff ? character : utf8proc_toupper(character);
    return above < 0x80 || above > 0xffff ? character : above;
}

/* The next character of `*at` in upper case, and moves on; a byte that is no UTF-8 stands above all. */
static int32_t next_upper(const char **at)
{
    size_t size = utf8_character(*at, strnlen(*at, 4));
    int32_t character = 0;
    if (size == 0) {
        character = 0x200000 + (unsigned char)**at;
        ++*at;
        return character;
    }
    (void)utf8proc_iterate((const utf8proc_uint8_t *)*at, (utf8proc_ssize_t)size, &character);
    *at += size;
    return upper(character);
}

/* The end before all, then the separator, so that what lies below a directory follows it at once. */
static int32_t rank(const char **at)
{
    if (**at == '\0')
        return -1;
    if (**at == '\\') {
        ++*at;
        return 0;
    }
    return next_upper(at);
}

int windows_path_compare(const char *a, const char *b)
{
    int32_t left, right;
    do {
        left = rank(&a);
        right = rank(&b);
    } while (left == right && left >= 0);
    return (left > right) - (left < right);
}

bool windows_path_equal(const char *a, const char *b)
{
    return windows_path_compare(a, b) == 0;
}

bool windows_path_covers(const char *directory, const char *path)
{
    int32_t outer = 0, last = 0;
    for (;;) {
        const char *before = path;
        last = outer;
        outer = rank(&directory);
        if (outer < 0)
            return last == 0 || *before == '\0' || *before == '\\';
        if (rank(&path) != outer)
            return false;
    }
}

/* Whether the `length` bytes at `name` are `word`, without ASCII case. */
static bool is_word(const char *name, size_t length, const char *word)
{
    size_t at = 0;
    while (at < length && word[at] != '\0' &&
           upper((unsigned char)name[at]) == upper((unsigned char)word[at]))
        at++;
    return at == length && word[at] == '\0';
}

/* ---- what Windows takes ---- */

/* "NUL", "nul.txt" and "NUL .txt" all mean the device. */
static bool is_reserved(const char *name, size_t length)
{
    static const char *const words[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"};
    /* Digits and the superscripts 1, 2 and 3. */
    static const char *const marks[] = {"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"};
    const char *dot = memchr(name, '.', length);
    size_t base = dot != NULL ? (size_t)(dot - name) : length;
    while (base > 0 && name[base - 1] == ' ')
        base--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(name, base, words[i]))
            return true;
    if (base < 4 || (!is_word(name, 3, "COM") && !is_word(name, 3, "LPT")))
        return false;
    if (base == 4)
        return is_digit(name[3]);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (base == 5 && memcmp(name + 3, marks[i], 2) == 0)
            return true;
    return false;
}

static const char *character_problem(const char *name, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        int32_t character = 0;
        size = utf8_character(name + at, length - at);
        if (size == 0)
            return "is not UTF-8";
        (void)utf8proc_iterate((const utf8proc_uint8_t *)name + at, (utf8proc_ssize_t)size, &character);
        if (character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0xfffe ||
            character == 0xffff)
            return "holds a control character";
        if (character == ':')
            return "holds a colon, which names a stream of a file";
        if (character < 0x80 && strchr("<>\"|?*/", (int)character) != NULL)
            return "holds a character that no name has on Windows";
    }
    return NULL;
}

static const char *component_problem(const char *name, size_t length)
{
    const char *problem = character_problem(name, length);
    if (length == 0)
        return "holds an empty name";
    if (problem != NULL)
        return problem;
    if (name[length - 1] == '.' || name[length - 1] == ' ')
        return "holds a name that ends in a dot or a blank, which Windows takes away";
    return is_reserved(name, length) ? "holds a name that Windows keeps for a device" : NULL;
}

/* What comes before the first separator: "C:", "$WORK"; 0 if it is neither. */
static size_t start_length(const char *path)
{
    size_t length = strcspn(path, "\\");
    if (length == 2 && is_letter(path[0]) && path[1] == ':')
        return length;
    for (size_t i = 0; i < sizeof path_roots / sizeof *path_roots; i++)
        if (strncmp(path, path_roots[i], length) == 0 && path_roots[i][length] == '\0')
            return length;
    return 0;
}

const char *windows_path_problem(const char *path)
{
    size_t start = start_length(path);
    if (strlen(path) > PATH_LIMIT)
        return "is longer than 32,000 bytes";
    if (start == 0)
        return "starts neither with a drive nor with a root";
    if (path[1] == ':' && path[start] == '\0')
        return "is relative to a drive's current directory";
    if (path[1] == ':' && path[start + 1] == '\0')
        return NULL;
    for (const char *at = path + start; *at == '\\';) {
        size_t length = strcspn(++at, "\\");
        const char *problem = component_problem(at, length);
        if (problem != NULL)
            return problem;
        at += length;
    }
    return NULL;
}

static bool component_looks_short(const char *name, size_t length)
{
    const char *dot = memchr(name, '.', length);
    size_t base = dot != NULL ? (size_t)(dot - name) : length, tilde = base;
    if (base > 8 || (dot != NULL && length - base > 4))
        return false;
    while (tilde > 0 && is_digit(name[tilde - 1]))
        tilde--;
    return tilde < base && tilde > 0 && name[tilde - 1] == '~';
}

bool windows_path_looks_short(const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "\\");
        if (component_looks_short(path, length))
            return true;
        path += length;
        path += *path == '\\';
    }
    return false;
}

/* ---- where nothing may be granted ---- */

static bool rest_is_one_of(const char *rest, const char *const *words)
{
    for (; *words != NULL; words++)
        if (windows_path_equal(rest, *words))
            return true;
    return false;
}

/* Behind a profile's directory, its separator included. */
static bool is_profile_part(const char *rest)
{
    static const char *const parts[] = {"\\AppData", "\\AppData\\Local", "\\AppData\\LocalLow",
                                        "\\AppData\\Roaming", NULL};
    return *rest == '\0' || rest_is_one_of(rest, parts);
}

bool windows_path_is_protected(const char *path)
{
    static const char *const roots[] = {"$HOME", "$CONFIG", "$CACHE", "$DATA", NULL};
    static const char *const system[] = {"",
                                         "Windows",
                                         "Program Files",
                                         "Program Files (x86)",
                                         "Program Files (Arm)",
                                         "ProgramData",
                                         "Users",
                                         "Documents and Settings",
                                         "System Volume Information",
                                         "$Recycle.Bin",
                                         "Recovery",
                                         "PerfLogs",
                                         NULL};
    if (rest_is_one_of(path, roots))
        return true;
    if (strncmp(path, "$HOME", 5) == 0 && path[5] == '\\')
        return is_profile_part(path + 5);
    if (!is_letter(path[0]) || path[1] != ':' || path[2] != '\\')
        return false;
    if (rest_is_one_of(path + 3, system))
        return true;
    size_t first = strcspn(path + 3, "\\");
    if (!is_word(path + 3, first, "Users") && !is_word(path + 3, first, "Documents and Settings"))
        return false;
    const char *profile = path + 3 + first + 1;
    return is_profile_part(profile + strcspn(profile, "\\"));
}

bool windows_path_is_of_system(const char *path)
{
    static const char *const words[] = {"Windows", "Program Files", "Program Files (x86)",
                                        "Program Files (Arm)"};
    if (!is_letter(path[0]) || path[1] != ':' || path[2] != '\\')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (windows_path_covers(words[i], path + 3))
            return true;
    return false;
}

/* ---- from and to the model ---- */

static const char *swapped(struct arena *arena, const char *path, char from, char to)
{
    char *copy = arena_strdup(arena, path);
    for (char *at = copy; *at != '\0'; at++)
        if (*at == from)
            *at = to;
    return copy;
}

const char *windows_path_from_model(struct arena *arena, const char *path)
{
    if (strchr(path, '\\') != NULL)
        return NULL;
    if (is_letter(path[0]) && path[1] == ':' && path[2] == '\0')
        return arena_join(arena, path, "\\");
    return swapped(arena, path, '/', '\\');
}

const char *windows_path_to_model(struct arena *arena, const char *path)
{
    return swapped(arena, path, '\\', '/');
}
