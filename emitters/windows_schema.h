/* windows_schema.h - schema/sbx-windows.xsd as bytes in the program: it is never read from a file. */
#pragma once

extern const char windows_schema[];
extern const int windows_schema_length;
