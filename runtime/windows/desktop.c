#include "runtime/windows/desktop.h"

#include "runtime/windows/wide.h"

#include <sddl.h>
#include <stddef.h>

enum { NAME_SIZE = 256 };

/* Whoever is below Medium could not even draw on it without the label. */
static PSECURITY_DESCRIPTOR descriptor_of(struct arena *arena, const struct windows_identity *identity)
{
    const struct windows_sid *inside = identity->package.length != 0 ? &identity->package : &identity->run;
    const char *text =
        arena_format(arena, "D:P(A;;GA;;;SY)(A;;GA;;;%s)(A;;GA;;;%s)(A;;GA;;;%s)S:(ML;;NW;;;LW)",
                     windows_sid_text(arena, &identity->user), windows_sid_text(arena, &identity->logon),
                     windows_sid_text(arena, inside));
    const wchar_t *wide = wide_from(arena, text);
    PSECURITY_DESCRIPTOR descriptor = NULL;

    return ConvertStringSecurityDescriptorToSecurityDescriptorW(wide, SDDL_REVISION_1, &descriptor, NULL)
               ? descriptor
               : NULL;
}

static const wchar_t *name_with_station(struct arena *arena, const char *name)
{
    wchar_t station[NAME_SIZE] = L"";

    if (!GetUserObjectInformationW(GetProcessWindowStation(), UOI_NAME, station, sizeof station, NULL))
        return NULL;
    const char *text = wide_to(arena, station);
    return text == NULL ? NULL : wide_from(arena, arena_format(arena, "%s\\%s", text, name));
}

bool desktop_make(struct arena *arena, const char *id, const struct windows_identity *identity,
                  struct desktop *desktop, struct note_list *notes)
{
    const char *name = arena_format(arena, "sbx-%s", id);
    SECURITY_ATTRIBUTES attributes = {sizeof attributes, descriptor_of(arena, identity), FALSE};

    *desktop = (struct desktop){.name = name_with_station(arena, name)};
    if (attributes.lpSecurityDescriptor != NULL && desktop->name != NULL)
        desktop->handle = CreateDesktopW(wide_from(arena, name), NULL, NULL, 0, GENERIC_ALL, &attributes);
    DWORD error = GetLastError();
    if (attributes.lpSecurityDescriptor != NULL)
        LocalFree(attributes.lpSecurityDescriptor);
    if (desktop->handle != NULL)
        return true;
    note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                  .text = arena_format(arena, "no desktop of its own can be made: %s",
                                                       wide_error(arena, error))});
    return false;
}

void desktop_close(struct desktop *desktop)
{
    if (desktop->handle != NULL)
        CloseDesktop(desktop->handle);
    *desktop = (struct desktop){0};
}
