/* windows_document.h - a valid specification of Windows for tests, and the same with a part replaced. */
#pragma once

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define DOCUMENT_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define DOCUMENT_OBJECT                                                                                      \
    "    <object path=\"$WORK\" kind=\"dir\" on-missing=\"skip\" rule=\"grant write $WORK\">\n"              \
    "      <ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"                                          \
    "      <ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\" inherit=\"true\"/>\n"                       \
    "    </object>\n"

static const char document_text[] = DOCUMENT_HEAD
    "<!-- what people read first -->\n"
    "<sbx-windows xmlns=\"urn:sbx:windows:1\" version=\"1\" tier=\"appcontainer\" policy=\"web\" "
    "policy-sha256=\""
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\" min-build=\"19041\">\n"
    "  <guarantees>\n"
    "    <control name=\"fs.closed\" strength=\"enforced\">nothing &lt;else&gt; opens</control>\n"
    "    <accepted name=\"limit.files\">small &amp; rare</accepted>\n"
    "    <open>C:\\Windows can be read</open>\n"
    "  </guarantees>\n"
    "  <token integrity=\"low\" write-restricted=\"false\" drop-privileges=\"true\"/>\n"
    "  <appcontainer>\n"
    "    <capability name=\"internetClient\"/>\n"
    "    <capability name=\"privateNetworkClientServer\"/>\n"
    "  </appcontainer>\n"
    "  <job kill-on-close=\"true\" breakaway=\"false\" active-processes=\"7\" memory=\"1073741824\" "
    "time-ms=\"5000\"/>\n"
    "  <desktop mode=\"private\"/>\n"
    "  <scratch/>\n"
    "  <environment>\n"
    "    <keep name=\"CI\"/>\n"
    "    <keep name=\"NODE_*\"/>\n"
    "    <drop name=\"*_TOKEN\"/>\n"
    "    <limit>\n"
    "      <keep name=\"C*\"/>\n"
    "    </limit>\n"
    "    <limit/>\n"
    "    <set name=\"MODE\" value=\"a &amp;#38; &quot;b&quot;\"/>\n"
    "  </environment>\n"
    "  <acl>\n"
    "    <require path=\"$WORK\" not-below=\"$CACHE\\x\"/>\n" DOCUMENT_OBJECT
    "    <object path=\"$WORK\\.git\\hooks\" kind=\"any\" on-missing=\"create-dir\" cap=\"true\" "
    "rule=\"deny\">\n"
    "      <ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/>\n"
    "    </object>\n"
    "    <object path=\"C:\\Tools\" kind=\"any\" on-missing=\"skip\" automatic=\"true\" rule=\"grant "
    "read\">\n"
    "      <ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" inherit=\"true\"/>\n"
    "    </object>\n"
    "    <match pattern=\"$WORK\\**\\.env\" rule=\"deny $WORK/**/.env\">\n"
    "      <except path=\"$WORK\\doc\"/>\n"
    "      <except path=\"$WORK\\*\\doc\"/>\n"
    "      <ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/>\n"
    "    </match>\n"
    "  </acl>\n"
    "</sbx-windows>\n";

/* `text` with its first `from`, which must be there, as `to`. */
static inline char *document_replaced(struct arena *arena, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return arena_format(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}
