/* file_check.h - what a rule read from a file must be like to be a rule of the language.
 *
 * The reader of .bin files trusts nothing: the launcher would otherwise act on a rule that no policy text can
 * make.
 */
#pragma once

#include "policy/policy.h"

/* What a string serves as; bits, so that a string shared by many rules is checked once for each. */
enum string_form {
    FORM_TITLE = 1 << 0,     /* the name of a policy or layer */
    FORM_TEXT = 1 << 1,      /* UTF-8 without control characters, may be empty */
    FORM_FILE = 1 << 2,      /* a source's name */
    FORM_WORD = 1 << 3,      /* a service, syscall, control or target */
    FORM_NAME = 1 << 4,      /* a variable that can be set or be a $env root */
    FORM_VARIABLES = 1 << 5, /* a pattern of variable names */
    FORM_ARGUMENT = 1 << 6,  /* of expect: UTF-8 without control characters, not empty */
    FORM_COMMAND = 1 << 7,
    FORM_HOST = 1 << 8,
    FORM_DRIVE = 1 << 9,
    FORM_REST = 1 << 10,         /* of a plain path */
    FORM_PATTERN = 1 << 11,      /* of a path pattern below a root */
    FORM_FIXED_PATTERN = 1 << 12 /* of one after / or a drive, where the first component has no signs */
};

/* Whether `string` has that form. O(length). */
bool string_has_form(const char *string, enum string_form form);

/* NULL, or why no policy text makes `rule` in a layer of `kind` (a static string). Enumerations are in range
 * and strings have their forms already. O(ports of the rule). */
const char *rule_problem(const struct rule *rule, enum layer_kind kind);
