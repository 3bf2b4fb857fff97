// toml++, the system's, behind C: one text in, its values in one list. Nothing of C++ crosses, no exception either.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ctoml_kind {
  CTOML_TABLE = 1,
  CTOML_ARRAY = 2,
  CTOML_STRING = 3,
  CTOML_INTEGER = 4,
  CTOML_BOOLEAN = 5,
  CTOML_FLOAT = 6,
  // A date, a time, or both.
  CTOML_MOMENT = 7,
};

// One value. What a table or an array holds stands behind it in the list, up to `end`. The texts live as long as the
// document, and end with no NUL.
struct ctoml_value {
  enum ctoml_kind kind;
  // Where the next value stands that is not inside this one.
  size_t end;
  // Its key, in a table.
  const char *key;
  size_t key_bytes;
  const char *string;
  size_t string_bytes;
  // 0 or 1 of a boolean.
  int64_t integer;
};

#define CTOML_REASON_BYTES 2048

// Why a text was refused: `line` counts from 1, 0 where no line is to blame.
struct ctoml_problem {
  uint32_t line;
  char reason[CTOML_REASON_BYTES];
};

struct ctoml_document;

// Reads UTF-8. NULL: it is refused, and `problem` says why.
struct ctoml_document *ctoml_read(const char *text, size_t bytes, struct ctoml_problem *problem);
// The values; the first one is the table of the whole text.
const struct ctoml_value *ctoml_values(const struct ctoml_document *document);
void ctoml_free(struct ctoml_document *document);

#ifdef __cplusplus
}
#endif
