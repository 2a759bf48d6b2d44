#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bnsweep/mpi/fifo.h"

/* Pushed and popped in all rhythms, items come out in order, also when growing finds the queue wrapped around. */
static void order_is_kept(void **state)
{
    (void)state;
    for (unsigned rhythm = 1; rhythm < 40; rhythm++) {
        struct fifo fifo = {.item_size = sizeof(uint32_t)};
        uint32_t in = 0, out = 0;
        for (unsigned round = 0; round < 50; round++) {
            for (unsigned i = 0; i < rhythm; i++, in++)
                assert_int_equal(fifo_push(&fifo, &in), STATUS_OK);
            for (unsigned i = 0; i < rhythm - round % 2; i++, out++) {
                assert_int_equal(*(uint32_t *)fifo_at(&fifo, 0), out);
                fifo_pop(&fifo);
            }
            assert_int_equal(fifo.count, in - out);
            if (fifo.count)
                assert_int_equal(*(uint32_t *)fifo_at(&fifo, fifo.count - 1), in - 1);
        }
        fifo_free(&fifo);
    }
}

static void an_empty_one_gives_nothing(void **state)
{
    (void)state;
    struct fifo fifo = {.item_size = 1};
    assert_null(fifo_at(&fifo, 0));
    fifo_pop(&fifo);
    assert_int_equal(fifo.count, 0);
    fifo_free(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_kept), cmocka_unit_test(an_empty_one_gives_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
