/* file_format.h - the numbers that the writer and the reader of .bin files share. */
#pragma once

enum {
    FILE_VERSION = 1,
    FILE_MAGIC_SIZE = 8,
    FILE_HEAD_SIZE = FILE_MAGIC_SIZE + 4 + 8, /* magic, version, length of the whole file */
    FILE_HASH_SIZE = 32
};

/* As in PNG: a byte that is no text, both line ends and a DOS end of file, so that a transfer as text is
 * noticed. */
#define FILE_MAGIC "\x89SBX\r\n\x1a\n"
