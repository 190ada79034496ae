#include "runtime/windows/journal_record.h"

#include "base/vector.h"

#include <string.h>

enum { FRAME = 16, CHECKED = 8 }; /* bytes before the payload; where what is summed begins */

static uint32_t checksum(const uint8_t *bytes, size_t length)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320u : 0);
    }
    return ~sum;
}

/* --- writing -------------------------------------------------------------------------------------------- */

static void set32(char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(value >> 8 * i & 0xff);
}

static void put32(struct buffer *out, uint32_t value)
{
    set32(buffer_extend(out, 4), value);
}

static void put_bytes(struct buffer *out, const void *bytes, size_t length)
{
    put32(out, (uint32_t)length);
    buffer_bytes(out, bytes, length);
}

/* NULL differs from "". */
static void put_string(struct buffer *out, const char *string)
{
    put32(out, string != NULL);
    if (string != NULL)
        put_bytes(out, string, strlen(string));
}

static void put_identity(struct buffer *out, const struct acl_identity *identity)
{
    put_string(out, identity->volume);
    if (identity->volume == NULL)
        return;
    buffer_bytes(out, identity->id, ACL_ID_SIZE);
    put32(out, identity->directory);
    put_string(out, identity->path);
}

static void put_entry(struct buffer *out, const struct windows_entry *entry)
{
    put32(out, entry->type);
    put32(out, entry->flags);
    put32(out, entry->mask);
    put_bytes(out, entry->sid.bytes, entry->sid.length);
}

static bool put_object(struct buffer *out, const struct journal_record *record)
{
    struct buffer before = buffer_in(out->arena);
    if (!windows_descriptor_write(&record->before, &before))
        return false;
    put_identity(out, &record->identity);
    put_bytes(out, before.bytes, before.length);
    put32(out, record->count);
    for (uint32_t i = 0; i < record->count; i++)
        put_entry(out, &record->entries[i]);
    put32(out, record->labels);
    if (record->labels)
        put_entry(out, &record->label);
    return true;
}

static bool put_payload(struct buffer *out, const struct journal_record *record)
{
    switch (record->type) {
    case JOURNAL_HEADER:
        put32(out, record->version);
        buffer_bytes(out, record->policy_hash, sizeof record->policy_hash);
        put_string(out, record->package);
        return true;
    case JOURNAL_PLACEHOLDER:
        put_string(out, record->path);
        put_string(out, record->maker);
        put_string(out, record->content);
        return true;
    case JOURNAL_OBJECT:
        return put_object(out, record);
    case JOURNAL_TREE:
        put_identity(out, &record->identity);
        return true;
    case JOURNAL_DONE:
        put32(out, record->of);
        put_identity(out, &record->identity);
        return true;
    }
    return false;
}

void journal_record_seal(struct buffer *out, size_t start)
{
    char *frame = out->bytes + start;
    set32(frame, (uint32_t)(out->length - start - FRAME));
    set32(frame + 4, checksum((const uint8_t *)frame + CHECKED, out->length - start - CHECKED));
}

bool journal_record_write(const struct journal_record *record, struct buffer *out)
{
    size_t start = out->length;
    buffer_extend(out, FRAME);
    if (!put_payload(out, record) || out->length - start - FRAME > JOURNAL_RECORD_MOST) {
        out->length = start;
        return false;
    }
    char *frame = out->bytes + start;
    set32(frame + 8, record->number);
    set32(frame + 12, record->type);
    journal_record_seal(out, start);
    return true;
}

/* --- reading -------------------------------------------------------------------------------------------- */

struct cursor {
    struct arena *arena;
    const uint8_t *at, *end;
    bool failed;
};

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static const uint8_t *take(struct cursor *cursor, size_t length)
{
    if (cursor->failed || (size_t)(cursor->end - cursor->at) < length) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += length;
    return cursor->at - length;
}

static uint32_t take32(struct cursor *cursor)
{
    const uint8_t *at = take(cursor, 4);
    return at != NULL ? get32(at) : 0;
}

static const char *take_string(struct cursor *cursor)
{
    if (take32(cursor) == 0)
        return NULL;
    size_t length = take32(cursor);
    const uint8_t *at = take(cursor, length);
    if (at == NULL || memchr(at, '\0', length) != NULL) {
        cursor->failed = true;
        return NULL;
    }
    return arena_copy(cursor->arena, (const char *)at, length);
}

static void take_copy(struct cursor *cursor, void *to, size_t length)
{
    const uint8_t *at = take(cursor, length);
    if (at != NULL)
        memcpy(to, at, length);
}

static void take_identity(struct cursor *cursor, struct acl_identity *identity)
{
    identity->volume = take_string(cursor);
    if (identity->volume == NULL)
        return;
    take_copy(cursor, identity->id, ACL_ID_SIZE);
    identity->directory = take32(cursor) != 0;
    identity->path = take_string(cursor);
    if (identity->path == NULL)
        cursor->failed = true;
}

static void take_entry(struct cursor *cursor, struct windows_entry *entry)
{
    entry->type = (uint8_t)take32(cursor);
    entry->flags = (uint8_t)take32(cursor);
    entry->mask = take32(cursor);
    uint32_t length = take32(cursor);
    if (length > WINDOWS_SID_SIZE)
        cursor->failed = true;
    else
        take_copy(cursor, entry->sid.bytes, length);
    entry->sid.length = (uint8_t)length;
}

static void take_object(struct cursor *cursor, struct journal_record *record)
{
    take_identity(cursor, &record->identity);
    size_t length = take32(cursor);
    const uint8_t *before = take(cursor, length);
    if (record->identity.volume == NULL || before == NULL ||
        !windows_descriptor_parse(cursor->arena, before, length, &record->before)) {
        cursor->failed = true;
        return;
    }
    record->count = take32(cursor);
    if (record->count > (size_t)(cursor->end - cursor->at)) {
        cursor->failed = true;
        return;
    }
    struct windows_entry *entries = arena_array(cursor->arena, record->count, sizeof *entries);
    for (uint32_t i = 0; i < record->count; i++)
        take_entry(cursor, &entries[i]);
    record->entries = entries;
    record->labels = take32(cursor) != 0;
    if (record->labels)
        take_entry(cursor, &record->label);
}

static void take_payload(struct cursor *cursor, struct journal_record *record)
{
    switch (record->type) {
    case JOURNAL_HEADER:
        record->version = take32(cursor);
        take_copy(cursor, record->policy_hash, sizeof record->policy_hash);
        record->package = take_string(cursor);
        break;
    case JOURNAL_PLACEHOLDER:
        record->path = take_string(cursor);
        record->maker = take_string(cursor);
        record->content = take_string(cursor);
        cursor->failed |= record->path == NULL || record->maker == NULL;
        break;
    case JOURNAL_OBJECT:
        take_object(cursor, record);
        break;
    case JOURNAL_TREE:
        take_identity(cursor, &record->identity);
        cursor->failed |= record->identity.volume == NULL;
        break;
    case JOURNAL_DONE:
        record->of = take32(cursor);
        take_identity(cursor, &record->identity);
        break;
    default:
        cursor->failed = true;
    }
}

size_t journal_record_read(struct arena *arena, const char *start, size_t length, uint32_t number,
                           struct journal_record *record)
{
    const uint8_t *bytes = (const uint8_t *)start;
    if (length < FRAME)
        return 0;
    size_t payload = get32(bytes);
    if (payload > JOURNAL_RECORD_MOST || payload > length - FRAME || get32(bytes + 8) < number ||
        get32(bytes + 12) < JOURNAL_HEADER || get32(bytes + 12) > JOURNAL_DONE ||
        get32(bytes + 4) != checksum(bytes + CHECKED, payload + FRAME - CHECKED))
        return 0;
    *record = (struct journal_record){.type = get32(bytes + 12), .number = get32(bytes + 8)};
    struct cursor cursor = {arena, bytes + FRAME, bytes + FRAME + payload, false};
    take_payload(&cursor, record);
    return !cursor.failed && cursor.at == cursor.end ? FRAME + payload : 0;
}

static bool is_tree(const struct journal_records *records, uint32_t number)
{
    for (uint32_t i = records->count; i-- > 0;)
        if (records->items[i].number == number)
            return records->items[i].type == JOURNAL_TREE;
    return false;
}

/* --- finding -------------------------------------------------------------------------------------------- */

static uint32_t head_of(const struct journal_records *records, const struct acl_identity *identity)
{
    return checksum(identity->id, ACL_ID_SIZE) & (records->head_count - 1);
}

static void hang(struct journal_records *records, uint32_t index)
{
    struct journal_record *record = &records->items[index];
    if (record->type != JOURNAL_OBJECT)
        return;
    uint32_t *head = &records->heads[head_of(records, &record->identity)];
    record->earlier = *head;
    *head = index + 1;
}

static void index_last(struct arena *arena, struct journal_records *records)
{
    if (records->count <= records->head_count) {
        hang(records, records->count - 1);
        return;
    }
    records->head_count = records->head_count == 0 ? 64 : 4 * records->head_count;
    records->heads = arena_array(arena, records->head_count, sizeof *records->heads);
    for (uint32_t i = 0; i < records->count; i++)
        hang(records, i);
}

const struct journal_record *journal_records_of(const struct journal_records *records,
                                                const struct acl_identity *identity,
                                                const struct journal_record *after)
{
    if (records->head_count == 0)
        return NULL;
    uint32_t next = after != NULL ? after->earlier : records->heads[head_of(records, identity)];
    while (next != 0 && !acl_identity_same(&records->items[next - 1].identity, identity))
        next = records->items[next - 1].earlier;
    return next != 0 ? &records->items[next - 1] : NULL;
}

void journal_records_add(struct arena *arena, struct journal_records *records,
                         const struct journal_record *record)
{
    if (record->type == JOURNAL_TREE)
        records->settled = false;
    else if (record->type == JOURNAL_DONE && is_tree(records, record->of))
        records->settled = true;
    VECTOR_PUSH(arena, records, *record);
    records->next = record->number + 1;
    index_last(arena, records);
}

/* Whether bytes without any record are no more than the beginning of a first one, and zeros. */
static bool is_unfinished(const uint8_t *bytes, size_t length)
{
    enum { HEADER_LEAST = FRAME + 40 };
    size_t used = length;
    while (used > 0 && bytes[used - 1] == 0)
        used--;
    return used <= HEADER_LEAST || (get32(bytes + 8) == 0 && get32(bytes + 12) == JOURNAL_HEADER &&
                                    get32(bytes) <= JOURNAL_RECORD_MOST && used <= FRAME + get32(bytes));
}

struct journal_records journal_records_read(struct arena *arena, const char *bytes, size_t length)
{
    struct journal_records records = {0};
    struct journal_record record;
    for (size_t at = 0; at < length;) {
        size_t read = journal_record_read(arena, bytes + at, length - at, records.next, &record);
        /* A record out of place: something before it was lost. */
        records.damaged |= read > 0 && record.number != records.next;
        if (read > 0)
            journal_records_add(arena, &records, &record);
        at += read > 0 ? read : 1;
    }
    if (records.count == 0)
        records.damaged = !is_unfinished((const uint8_t *)bytes, length);
    else if (records.items[0].type != JOURNAL_HEADER)
        records.damaged = true;
    else
        records.foreign = records.items[0].version != JOURNAL_VERSION;
    return records;
}
