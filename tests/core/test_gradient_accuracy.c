/* The gradient of the experiment's network in float against the same in double: for every engine no further from it than twice what
 * PyTorch's float32 is. The test in double runs first and leaves inputs and gradient in a file; tests/bench/gradient_pytorch.py reads
 * the file and prints what PyTorch's error is. */
#include "small_net.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_NAME "gradient_accuracy.bin"
/* PyTorch 1.13, float32 on this input: the largest difference from the float64 gradient, as a share of the largest entry of the tensor. */
#define PYTORCH_ERROR 5.5e-6

enum { IMAGES = 8, IMAGE = 3 * 32 * 32 };

static struct net_config experiment(void)
{
    return (struct net_config){.blocks = 3, .channels = {32, 64, 64}, .image_channels = 3, .image_h = 32, .image_w = 32, .classes = 10,
                               .norm = NORM_BATCH, .groups = 1, .eps = 1e-5};
}

static void create(struct small_net *small, const struct engine *engine)
{
    struct net_config config = experiment();
    small_net_create_with(small, &config, engine, IMAGES);
    for (size_t i = 0; i < small->net.size; i++)
        small->weights[i] = (real)(float)small->weights[i]; /* the same numbers in both libraries */
    for (size_t i = 0; i < IMAGES * IMAGE; i++)
        small->pass.x[i] = (real)(float)small->pass.x[i];
}

static void write_floats(FILE *file, size_t count, const real *values)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fwrite(&(float){(float)values[i]}, sizeof(float), 1, file), 1);
}

static void write_doubles(FILE *file, size_t count, const real *values)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fwrite(&(double){(double)values[i]}, sizeof(double), 1, file), 1);
}

static double *read_gradient(const struct small_net *small)
{
    double *gradient = malloc(small->net.size * sizeof *gradient);
    FILE *file = fopen(FILE_NAME, "rb");
    assert_true(gradient && file);
    assert_int_equal(fseek(file, (long)((small->net.size + IMAGES * IMAGE) * sizeof(float)), SEEK_SET), 0);
    assert_int_equal(fread(gradient, sizeof *gradient, small->net.size, file), small->net.size);
    fclose(file);
    return gradient;
}

static double tensor_error(const struct net_param *param, const real *found, const double *exact)
{
    double difference = 0, largest = 0;
    for (size_t i = param->offset; i < param->offset + param->length * param->channels; i++) {
        difference = numbers_larger(difference, fabs((double)found[i] - exact[i]));
        largest = numbers_larger(largest, fabs(exact[i]));
    }
    return difference / largest;
}

static void in_double(void)
{
    struct small_net small;
    create(&small, &engine_reference);
    small_net_gradient(&small);
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    write_floats(file, small.net.size, small.weights);
    write_floats(file, IMAGES * IMAGE, small.pass.x);
    write_doubles(file, small.net.size, small.gradient);
    assert_int_equal(fclose(file), 0);
    small_net_free(&small);
}

static void in_float(const struct engine *engine)
{
    struct small_net small;
    double worst = 0;
    create(&small, engine);
    small_net_gradient(&small);
    double *exact = read_gradient(&small);
    for (int i = 0; i < small.net.param_count; i++) {
        double error = tensor_error(&small.net.params[i], small.gradient, exact);
        print_message("%-16s %-14s error %.2g\n", engine->name, small.net.params[i].name, error);
        worst = numbers_larger(worst, error);
    }
    print_message("%-16s worst %.2g, PyTorch's %.2g\n", engine->name, worst, (double)PYTORCH_ERROR);
    assert_true(worst <= 2 * PYTORCH_ERROR);
    free(exact);
    small_net_free(&small);
}

static void gradients_are_as_good_as_pytorchs(void **state)
{
    (void)state;
    if (sizeof(real) == sizeof(double)) {
        in_double();
        return;
    }
    for (size_t i = 0; engine_at(i); i++)
        in_float(engine_at(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_as_good_as_pytorchs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
