#include "emitters/bin.h"

#include "policy/file.h"

bool emit_bin(const struct emit_request *request, struct buffer *out)
{
    policy_write(out, request->policy);
    return true;
}
