#include "CTOML.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

// What is refused comes back as a value, so that no exception is made of it. The deepest text that comes here nests tables
// by a header, a dotted key and eight brackets.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32
// Numbers without streams, whose tables of every language would be set up at each start.
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>

struct ctoml_document {
  toml::table root;
  std::vector<ctoml_value> values;
};

namespace {

void refuse(ctoml_problem *problem, uint32_t line, std::string_view reason) {
  problem->line = line;
  const size_t bytes = std::min(reason.size(), sizeof problem->reason - 1);
  std::copy_n(reason.data(), bytes, problem->reason);
  problem->reason[bytes] = 0;
}

void add(std::vector<ctoml_value> &values, const toml::node &node, std::string_view key) {
  const size_t place = values.size();
  ctoml_value value{};
  value.key = key.data();
  value.key_bytes = key.size();
  values.push_back(value);
  if (const auto *table = node.as_table()) {
    value.kind = CTOML_TABLE;
    for (const auto &[name, member] : *table) add(values, member, name.str());
  } else if (const auto *array = node.as_array()) {
    value.kind = CTOML_ARRAY;
    for (const auto &element : *array) add(values, element, {});
  } else if (const auto *string = node.as_string()) {
    value.kind = CTOML_STRING;
    value.string = string->get().data();
    value.string_bytes = string->get().size();
  } else if (const auto *integer = node.as_integer()) {
    value.kind = CTOML_INTEGER;
    value.integer = integer->get();
  } else if (const auto *boolean = node.as_boolean()) {
    value.kind = CTOML_BOOLEAN;
    value.integer = boolean->get();
  } else {
    value.kind = node.is_floating_point() ? CTOML_FLOAT : CTOML_MOMENT;
  }
  value.end = values.size();
  values[place] = value;
}

}  // namespace

ctoml_document *ctoml_read(const char *text, size_t bytes, ctoml_problem *problem) {
  try {
    auto read = toml::parse(std::string_view(text, bytes));
    if (!read) {
      refuse(problem, std::max<uint32_t>(read.error().source().begin.line, 1), read.error().description());
      return nullptr;
    }
    auto document = std::make_unique<ctoml_document>();
    document->root = std::move(read).table();
    add(document->values, document->root, {});
    return document.release();
  } catch (...) {
    // Memory alone.
    refuse(problem, 0, "there is not enough memory for it");
    return nullptr;
  }
}

const ctoml_value *ctoml_values(const ctoml_document *document) { return document->values.data(); }

void ctoml_free(ctoml_document *document) { delete document; }
