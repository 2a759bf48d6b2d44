#include "fixture.h"

#include "bnsweep/sweep/inifile.h"

static void expect(const char *bytes, size_t size, const char *joined)
{
    struct inifile file = {0};
    if (inifile_read(fixture_bytes("a.ini", bytes, size), &file))
        fail_msg("refused: %s", status_message());
    char found[4096] = "";
    for (size_t i = 0; i < file.entry_count; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%d[%s]%s=%s|", file.entries[i].line,
            file.sections[file.entries[i].section].name, file.entries[i].key, file.entries[i].value);
    }
    assert_string_equal(found, joined);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.text, bytes, size);
    inifile_free(&file);
}

static void refuse_bytes(const char *bytes, size_t size, const char *start, const char *part)
{
    struct inifile file = {0};
    enum status status = inifile_read(fixture_bytes("a.ini", bytes, size), &file);
    inifile_free(&file);
    char expected[2 * FIXTURE_PATH];
    snprintf(expected, sizeof expected, "%s:%s", fixture_path("a.ini"), start);
    if (status != STATUS_INPUT || strncmp(status_message(), expected, strlen(expected)) != 0 || !strstr(status_message(), part))
        fail_msg("%s: %s\nexpected %s ... %s", status_name(status), status_message(), expected, part);
}

static void refuse(const char *text, const char *start, const char *part)
{
    refuse_bytes(text, strlen(text), start, part);
}

#define EXPECT(text, joined) expect(text, sizeof text - 1, joined)

static void good_files(void **state)
{
    (void)state;
    EXPECT("", "");
    EXPECT("[a]\nx = 1\n\ny=2 ; note\n; c\n# c\n   ; c\n   # c\n  \n[b] ; c\nx : 3\n[c]", "2[a]x=1|4[a]y=2|11[b]x=3|");
    EXPECT("[a]\r\nx = 1\r\n\r\ny = 2 3\r\n", "2[a]x=1|4[a]y=2 3|");
    EXPECT("\xef\xbb\xbf[a]\nx = 1", "2[a]x=1|");
    EXPECT("[a]\nx =\ny = a=b:c\nz = 1;2\nv = \xc3\xa4#b\n", "2[a]x=|3[a]y=a=b:c|4[a]z=1;2|5[a]v=\xc3\xa4#b|");
    EXPECT("[a]\nx = ; only a comment\n", "2[a]x=|");
}

/* inih would hand over a line of 200 bytes as two. */
static void long_lines(void **state)
{
    (void)state;
    char text[600] = "[a]\nk = ", joined[600] = "2[a]k=";
    memset(text + 8, 'v', 195);
    strcat(text, "\nl = 1\n");
    memset(joined + 6, 'v', 195);
    strcat(joined, "|3[a]l=1|");
    expect(text, strlen(text), joined);
    memmove(text + 9, text + 8, strlen(text + 8) + 1);
    refuse(text, "2: ", "the line has 200 bytes; allowed: at most 199");
    text[4] = ';';
    refuse(text, "2: ", "the line has 200 bytes");
}

/* inih would cut it at 49. */
static void long_names(void **state)
{
    (void)state;
    char text[200] = "[", joined[200] = "2[";
    memset(text + 1, 's', 49);
    strcat(text, "]\nk = 1\n");
    memset(joined + 2, 's', 49);
    strcat(joined, "]k=1|");
    expect(text, strlen(text), joined);
    memmove(text + 2, text + 1, strlen(text + 1) + 1);
    refuse(text, "1: ", "has 50 bytes; allowed: at most 49");
    strcpy(text, "[a]\n");
    memset(text + 4, 'k', 50);
    strcpy(text + 54, " = 1\n");
    refuse(text, "2: the key 'kkkk", "has 50 bytes; allowed: at most 49");
}

static void repeated(void **state)
{
    (void)state;
    refuse("[a]\nx = 1\ny = 2\nx = 3\n", "4: key 'x' is there twice in [a], first in line 2", "");
    refuse("[a]\nx = 1\n[b]\n[a]\n", "4: section [a] is there twice, first in line 1", "");
}

static void mangled_lines(void **state)
{
    (void)state;
    refuse("[a]\nx = 1\n y = 2\n", "3: blanks before a key or section", "continue the value above");
    refuse("[a]\nx = 1\n\t[b]\n", "3: blanks before a key or section", "");
    refuse("x = 1\n[a]\n", "1: key 'x' stands before any section", "");
    refuse("[a\nx = 1\n", "1: a section without its closing bracket", "allowed: [NAME]");
    refuse("[a ; b]\nx = 1\n", "1: a section without its closing bracket", "");
    refuse("[a] b\n", "1: 'b' behind the section's bracket would be ignored", "");
    refuse("[a]b]\n", "1: 'b]' behind the section's bracket", "");
    refuse("[]\n", "1: an empty section name", "");
    refuse("[ a ]\n", "1: an empty section name or blanks", "");
    refuse("[a]\nx\n", "2: no '=' in 'x'", "allowed: KEY = VALUE");
    refuse("[a]\nx ; = 1\n", "2: no '='", "");
    refuse("[a]\n= 1\n", "2: no key before '='", "");
    refuse("[a]\nx = 1 # note\n", "2: a '#' behind a value would become part of it", "begins with ' ;'");
}

static void not_text(void **state)
{
    (void)state;
    refuse_bytes("[a]\nx = 1\0y = 2\n", 16, "2: byte 0x00 at column 6", "allowed: UTF-8 text");
    refuse("[a]\rx = 1\ry = 2\n", "1: byte 0x0d at column 4", "");
    refuse("[a]\nx = \xe9t\xe9\n", "2: byte 0xe9 at column 5", "");
    refuse("[a]\nx = \x01\n", "2: byte 0x01 at column 5", "");
    refuse_bytes("\xff\xfe[\0a\0]\0", 8, "1: byte 0xff at column 1", "");
}

static void not_files(void **state)
{
    (void)state;
    struct inifile file = {0};
    assert_int_equal(inifile_read("/nonexistent/x.ini", &file), STATUS_INPUT);
    assert_string_equal(status_message(), "/nonexistent/x.ini: cannot read the sweep file: No such file or directory");
    inifile_free(&file);
    assert_int_equal(inifile_read(fixture_folder, &file), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "it is no regular file"));
    inifile_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(long_names),
        cmocka_unit_test(repeated),
        cmocka_unit_test(mangled_lines),
        cmocka_unit_test(not_text),
        cmocka_unit_test(not_files),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
