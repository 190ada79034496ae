#include "emitters/reader.h"

#include "base/vector.h"
#include "emitters/questions_syscall.h"

#include <string.h>

/* Classic BPF as the kernel runs it for seccomp (Documentation/networking/filter.rst, kernel/seccomp.c). */
enum {
    CLASS_MASK = 0x07,
    CLASS_LOAD = 0x00,
    CLASS_LOAD_INDEX = 0x01,
    CLASS_STORE = 0x02,
    CLASS_STORE_INDEX = 0x03,
    CLASS_ARITHMETIC = 0x04,
    CLASS_JUMP = 0x05,
    CLASS_RETURN = 0x06,
    CLASS_MISC = 0x07,
    MODE_MASK = 0xe0,
    MODE_IMMEDIATE = 0x00,
    MODE_ABSOLUTE = 0x20,
    MODE_MEMORY = 0x60,
    MODE_LENGTH = 0x80,
    SOURCE_INDEX = 0x08,
    OPERATION_MASK = 0xf0,
    RETURN_ACCUMULATOR = 0x10,
    TO_ACCUMULATOR = 0x80,
    MEMORY_WORDS = 16,
    DATA_BYTES = 64,
    RECORD_BYTES = 8,
    MOST_INSTRUCTIONS = 4096,
};

enum { NUMBER_AT = 0, ARCHITECTURE_AT = 4, ARGUMENTS_AT = 16 };

#define ACTION_MASK 0xffff0000U
#define ACTION_ALLOW 0x7fff0000U
#define ACTION_LOG 0x7ffc0000U

struct record {
    uint16_t code;
    uint8_t jump_true, jump_false;
    uint32_t value;
};

struct bpf_program {
    struct record *items;
    uint32_t count;
    struct syscall_policy *policy;
};

struct machine {
    uint32_t accumulator, index, memory[MEMORY_WORDS];
    unsigned char data[DATA_BYTES];
};

static uint32_t little(const unsigned char *bytes, int count)
{
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static void put_little(unsigned char *bytes, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static bool load(struct machine *machine, const struct record *record, uint32_t *into)
{
    switch (record->code & MODE_MASK) {
    case MODE_IMMEDIATE:
        *into = record->value;
        return true;
    case MODE_ABSOLUTE:
        if (record->value > DATA_BYTES - 4 || record->value % 4 != 0)
            return false;
        *into = little(machine->data + record->value, 4);
        return true;
    case MODE_MEMORY:
        if (record->value >= MEMORY_WORDS)
            return false;
        *into = machine->memory[record->value];
        return true;
    case MODE_LENGTH:
        *into = DATA_BYTES;
        return true;
    default:
        return false;
    }
}

static bool calculate(struct machine *machine, const struct record *record)
{
    uint32_t value = (record->code & SOURCE_INDEX) != 0 ? machine->index : record->value;
    uint32_t *a = &machine->accumulator;
    switch (record->code & OPERATION_MASK) {
    case 0x00:
        *a += value;
        return true;
    case 0x10:
        *a -= value;
        return true;
    case 0x20:
        *a *= value;
        return true;
    case 0x30:
        *a = value == 0 ? 0 : *a / value;
        return value != 0;
    case 0x40:
        *a |= value;
        return true;
    case 0x50:
        *a &= value;
        return true;
    case 0x60:
        *a = value < 32 ? *a << value : 0;
        return true;
    case 0x70:
        *a = value < 32 ? *a >> value : 0;
        return true;
    case 0x80:
        *a = -*a;
        return true;
    case 0xa0:
        *a ^= value;
        return true;
    default:
        return false;
    }
}

/* How far to jump; -1 for a jump that the kernel does not know. */
static int64_t jump(const struct machine *machine, const struct record *record)
{
    uint32_t value = (record->code & SOURCE_INDEX) != 0 ? machine->index : record->value;
    bool holds;
    switch (record->code & OPERATION_MASK) {
    case 0x00:
        return record->value;
    case 0x10:
        holds = machine->accumulator == value;
        break;
    case 0x20:
        holds = machine->accumulator > value;
        break;
    case 0x30:
        holds = machine->accumulator >= value;
        break;
    case 0x40:
        holds = (machine->accumulator & value) != 0;
        break;
    default:
        return -1;
    }
    return holds ? record->jump_true : record->jump_false;
}

/* Runs the program and returns what it says, with the instruction (from 1) that said so; false if the
 * kernel would not load such a program. */
static bool run(const struct bpf_program *program, struct machine *machine, uint32_t *result, uint32_t *line)
{
    for (uint64_t at = 0; at < program->count; at++) {
        const struct record *record = &program->items[at];
        int64_t distance = 0;
        bool good = true;
        *line = (uint32_t)at + 1;
        switch (record->code & CLASS_MASK) {
        case CLASS_LOAD:
            good = load(machine, record, &machine->accumulator);
            break;
        case CLASS_LOAD_INDEX:
            good = load(machine, record, &machine->index);
            break;
        case CLASS_STORE:
        case CLASS_STORE_INDEX:
            good = record->value < MEMORY_WORDS;
            if (good)
                machine->memory[record->value] =
                    (record->code & CLASS_MASK) == CLASS_STORE ? machine->accumulator : machine->index;
            break;
        case CLASS_ARITHMETIC:
            good = calculate(machine, record);
            break;
        case CLASS_JUMP:
            distance = jump(machine, record);
            good = distance >= 0;
            at += good ? (uint64_t)distance : 0;
            break;
        case CLASS_RETURN:
            *result = (record->code & 0x18) == RETURN_ACCUMULATOR ? machine->accumulator : record->value;
            return true;
        default:
            if ((record->code & 0xf8) == TO_ACCUMULATOR)
                machine->accumulator = machine->index;
            else
                machine->index = machine->accumulator;
            break;
        }
        if (!good)
            return false;
    }
    return false;
}

static struct reply answer_call(const void *state, const struct query *query)
{
    const struct bpf_program *program = state;
    struct machine machine = {0};
    uint32_t number, architecture, result = 0;
    struct reply reply = {.text = "deny"};
    if (!syscall_numbers(program->policy, query, &number, &architecture))
        return (struct reply){0};
    put_little(machine.data + NUMBER_AT, number, 4);
    put_little(machine.data + ARCHITECTURE_AT, architecture, 4);
    for (int i = 0; query->arguments != NULL && i < QUERY_ARGUMENTS; i++)
        put_little(machine.data + ARGUMENTS_AT + 8 * i, query->arguments[i], 8);
    if (!run(program, &machine, &result, &reply.line)) {
        reply.text = "not loaded";
        return reply;
    }
    uint32_t action = result & ACTION_MASK;
    if (action == ACTION_ALLOW || action == ACTION_LOG)
        reply.text = "allow";
    return reply;
}

static struct reply expect_call(const void *state, const struct query *query)
{
    return syscall_answer(((const struct bpf_program *)state)->policy, query);
}

static void list_calls(const void *state, struct query_set *set)
{
    syscall_queries(((const struct bpf_program *)state)->policy, set);
}

bool read_seccomp(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct bpf_program *program = arena_alloc(request->arena, sizeof *program);
    size_t count = request->length / RECORD_BYTES;
    if (count == 0 || request->length % RECORD_BYTES != 0 || count > MOST_INSTRUCTIONS) {
        *error = "it is not a list of BPF instructions, of 8 bytes each and at most 4096";
        return false;
    }
    program->count = (uint32_t)count;
    program->items = arena_array(request->arena, count, sizeof *program->items);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)request->bytes + i * RECORD_BYTES;
        program->items[i] = (struct record){(uint16_t)little(at, 2), at[2], at[3], little(at + 4, 4)};
    }
    program->policy = syscall_policy_of(request->arena, request->bound, request->architecture);
    if (program->policy == NULL) {
        *error = "there are tables for x86_64 and aarch64 alone";
        return false;
    }
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = program,
                                .kinds = 1U << QUERY_SYSCALL,
                                .answer = answer_call,
                                .list = list_calls,
                                .expect = expect_call});
    return true;
}
