/* json.h - the `json` target: the resolved policy for other programs, valid against
 * schema/sbx-policy.schema.json.
 *
 * It holds every rule that the policy and its managed layers make on one system without a command, each with
 * its place, and the regions that follow from them. One entry a line, so that two files can be compared by
 * line.
 */
#pragma once

#include "emitters/target.h"

bool emit_json(const struct emit_request *request, struct buffer *out);
