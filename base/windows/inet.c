#include <arpa/inet.h>

#include <stdbool.h>
#include <stdint.h>

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static uint32_t digit_value(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (uint32_t)(byte - '0');
    if (byte >= 'a' && byte <= 'f')
        return (uint32_t)(byte - 'a') + 10;
    return byte >= 'A' && byte <= 'F' ? (uint32_t)(byte - 'A') + 10 : UINT32_MAX;
}

/* One number of at most 32 bits. NULL if it is none, else what follows it. */
static const char *number_read(const char *text, uint32_t *number)
{
    uint32_t base = 10;
    uint64_t value = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && digit_value(text[2]) < 16) {
        base = 16;
        text += 2;
    } else if (text[0] == '0') {
        base = 8;
    }
    if (digit_value(*text) >= base)
        return NULL;
    for (; digit_value(*text) < base; text++) {
        value = value * base + digit_value(*text);
        if (value > UINT32_MAX)
            return NULL;
    }
    *number = (uint32_t)value;
    return text;
}

int inet_aton(const char *text, struct in_addr *address)
{
    uint32_t value = 0, number = 0;
    for (unsigned bits = 32;; bits -= 8) {
        text = number_read(text, &number);
        if (text == NULL)
            return 0;
        if (*text != '.' || bits == 8) {
            if (bits < 32 && number >> bits != 0)
                return 0;
            value |= number;
            break;
        }
        if (number > UINT8_MAX)
            return 0;
        value |= number << (bits - 8);
        text++;
    }
    if (*text != '\0' && !is_blank(*text))
        return 0;
    address->s_addr = htonl(value);
    return 1;
}
