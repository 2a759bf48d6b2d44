/* Settings as text: one canonical form for each value. */
#ifndef BNSWEEP_SWEEP_SETTINGS_TEXT_H
#define BNSWEEP_SWEEP_SETTINGS_TEXT_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"

enum { SETTINGS_TEXT_SIZE = 8192 }; /* holds every setting's line */

/* Set one key from text without surrounding blanks.
 * STATUS_INPUT, and `settings` unchanged, where the value is malformed or out of range; the message says what was found and what
 * is allowed. */
enum status settings_text_set(struct settings *settings, int key, const char *text);

/* Write one value in its canonical form (numbers as the shortest decimal that reads back to the same bits). */
void settings_text_format(const struct settings *settings, int key, char out[SETTINGS_VALUE_SIZE]);

/* Write what the value of a key may be: "a whole number, 0..9". */
void settings_text_allowed(int key, char out[SETTINGS_VALUE_SIZE]);

/* Write all settings that are read in this combination, derived ones too, as "key = value\n" lines. */
void settings_text_write(const struct settings *settings, char out[SETTINGS_TEXT_SIZE]);

/* Read what settings_text_write wrote: all of it, once each; the other settings get their defaults.
 * STATUS_INPUT where a line is malformed, unknown, twice, not read in this combination or missing, or a rule of settings_check is
 * broken. */
enum status settings_text_read(const char *text, struct settings *out);

#endif
