#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bnsweep/mpi/wire.h"

#include <string.h>

static const struct {
    enum wire_tag tag;
    int fields;
} tags[] = {
#define X(name, number, text, receiver, fields) {WIRE_##name, fields},
    WIRE_TAGS(X)
#undef X
};
enum { TAG_COUNT = sizeof tags / sizeof *tags };

static struct wire_message full_message(unsigned i)
{
    int fields = tags[i].fields;
    return (struct wire_message){
        .tag = tags[i].tag,
        .trajectory = fields & WIRE_TRAJECTORY ? 0x01020304 : 0, .attempt = fields & WIRE_ATTEMPT ? 3 : 0,
        .number = fields & WIRE_NUMBER ? UINT32_MAX : 0, .row = fields & WIRE_ROW ? 17 : 0, .pid = fields & WIRE_PID ? 4711 : 0,
        .step = fields & WIRE_STEPS ? UINT64_MAX : 0, .steps = fields & WIRE_STEPS ? 6000 : 0,
        .text = fields & WIRE_TEXT ? "why" : "", .bytes = fields & WIRE_BYTES ? "\0\1\2\3" : NULL, .size = fields & WIRE_BYTES ? 4 : 0};
}

static void every_tag_comes_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TAG_COUNT; i++) {
        struct wire_message sent = full_message(i), got;
        struct pack pack = {0};
        size_t size;
        assert_int_equal(wire_pack(&sent, &pack), STATUS_OK);
        assert_int_equal(wire_measure(pack.data, pack.size, &size), STATUS_OK);
        assert_int_equal(size, pack.size);
        assert_int_equal(wire_unpack(pack.data, pack.size, &got), STATUS_OK);
        assert_int_equal(got.tag, sent.tag);
        assert_true(got.trajectory == sent.trajectory && got.attempt == sent.attempt && got.number == sent.number);
        assert_true(got.row == sent.row && got.pid == sent.pid && got.step == sent.step && got.steps == sent.steps);
        assert_string_equal(got.text, sent.text);
        assert_int_equal(got.size, sent.size);
        if (sent.size)
            assert_memory_equal(got.bytes, sent.bytes, sent.size);
        assert_string_not_equal(wire_name(sent.tag), "unknown");
        pack_free(&pack);
    }
}

/* The bytes are fixed: a header as documented, little-endian. */
static void layout_is_fixed(void **state)
{
    (void)state;
    struct pack pack = {0};
    struct wire_message ack = {.tag = WIRE_ACK, .trajectory = 1, .attempt = 2, .number = 0x0304};
    assert_int_equal(wire_pack(&ack, &pack), STATUS_OK);
    static const uint8_t start[] = {'b', 'n', 's', 'w', 1, 4, 0, 0, 12, 0, 0, 0};
    static const uint8_t payload[] = {1, 0, 0, 0, 2, 0, 0, 0, 4, 3, 0, 0};
    assert_int_equal(pack.size, 28);
    assert_memory_equal(pack.data, start, sizeof start);
    assert_memory_equal(pack.data + 16, payload, sizeof payload);
    pack_free(&pack);
}

/* Whatever single bit is wrong, the message is refused, and reading it touches nothing outside (sanitizers watch). */
static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TAG_COUNT; i++) {
        struct wire_message sent = full_message(i), got;
        struct pack pack = {0};
        assert_int_equal(wire_pack(&sent, &pack), STATUS_OK);
        for (size_t bit = 0; bit < pack.size * 8; bit++) {
            pack.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            enum status status = wire_unpack(pack.data, pack.size, &got);
            bool other_tag = bit / 8 == 5; /* a tag with the same fields is another valid message */
            if (!other_tag)
                assert_true(status == STATUS_CORRUPT || status == STATUS_VERSION);
            pack.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        pack_free(&pack);
    }
}

static void every_wrong_length_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TAG_COUNT; i++) {
        struct wire_message sent = full_message(i), got;
        struct pack pack = {0};
        assert_int_equal(wire_pack(&sent, &pack), STATUS_OK);
        size_t whole = pack.size, size;
        for (size_t cut = 0; cut < whole; cut++) {
            assert_int_equal(wire_unpack(pack.data, cut, &got), STATUS_CORRUPT);
            assert_int_equal(wire_measure(pack.data, cut, &size), STATUS_OK);
            assert_int_equal(size, cut < WIRE_HEADER_SIZE ? 0 : whole);
        }
        pack_u8(&pack, 0);
        assert_int_equal(wire_unpack(pack.data, pack.size, &got), STATUS_CORRUPT);
        pack_free(&pack);
    }
}

static void another_version_is_named(void **state)
{
    (void)state;
    struct pack pack = {0};
    struct wire_message got;
    assert_int_equal(wire_pack(&(struct wire_message){.tag = WIRE_PING}, &pack), STATUS_OK);
    pack.data[4] = 9;
    assert_int_equal(wire_unpack(pack.data, pack.size, &got), STATUS_VERSION);
    assert_non_null(strstr(status_message(), "version 9"));
    assert_non_null(strstr(status_message(), "version 1"));
    pack_free(&pack);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    static char text[WIRE_MAX_TEXT * 2];
    memset(text, 'x', sizeof text - 1);
    struct pack pack = {0};
    struct wire_message got;
    assert_int_equal(wire_pack(&(struct wire_message){.tag = WIRE_FAILED, .text = text}, &pack), STATUS_OK);
    assert_int_equal(wire_unpack(pack.data, pack.size, &got), STATUS_OK);
    assert_int_equal(strlen(got.text), WIRE_MAX_TEXT - 1);
    pack_free(&pack);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    struct pack pack = {0};
    struct wire_message message = {.tag = WIRE_RECORD, .bytes = "", .size = WIRE_MAX_PAYLOAD};
    assert_int_equal(wire_pack(&message, &pack), STATUS_INPUT);
    pack_free(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tag_comes_back), cmocka_unit_test(layout_is_fixed), cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_wrong_length_is_refused), cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(long_texts_are_cut), cmocka_unit_test(too_much_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
