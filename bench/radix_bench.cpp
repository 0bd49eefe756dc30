// radix_bench: times tle_radix_select (support/harness.h). Behind the colons of a shape may stand
// an element type (fp32 without), smallest, sorted, values (the keys are written, too), and
// payload4 or payload8: 64x131072x100:bf16:sorted:payload4.
#include "support/harness.h"

#include <stdexcept>

extern "C" {
#include "cli/reference_radix.h"
#include "kernels/support/keys.h"
}

namespace {

using bench::check;

const struct {
    const char *name;
    int32_t dtype;
} types[] = {{"fp32", TLE_DTYPE_FLOAT32}, {"fp16", TLE_DTYPE_FLOAT16}, {"bf16", TLE_DTYPE_BFLOAT16},
             {"fp64", TLE_DTYPE_FLOAT64}, {"i32", TLE_DTYPE_INT32},    {"u32", TLE_DTYPE_UINT32},
             {"i64", TLE_DTYPE_INT64},    {"u64", TLE_DTYPE_UINT64}};

struct Form {
    const char *type = "fp32";
    int32_t dtype = TLE_DTYPE_FLOAT32;
    bool smallest = false, sorted = false, values = false;
    int32_t payload_bytes = 0;

    size_t key_bytes() const {
        return reference_key_bytes(dtype);
    }
};

void read_word(const std::string &word, Form &form) {
    if (word == "smallest")
        form.smallest = true;
    else if (word == "sorted")
        form.sorted = true;
    else if (word == "values")
        form.values = true;
    else if (word == "payload4" || word == "payload8")
        form.payload_bytes = word.back() - '0';
    else {
        for (const auto &type : types)
            if (word == type.name) {
                form.type = type.name;
                form.dtype = type.dtype;
                return;
            }
        throw std::invalid_argument("'" + word + "' is no form of radix_select");
    }
}

Form form_of(const bench::Shape &shape) {
    Form form;
    for (const std::string &word : shape.form)
        read_word(word, form);
    return form;
}

// Rows apart by a multiple of 64 elements, which is one of 16 bytes for every type.
int64_t stride_of(const bench::Shape &shape) {
    return (shape.columns + 63) / 64 * 64;
}

std::vector<char> make_keys(const bench::Shape &shape, const Form &form, ValueKind values) {
    size_t row = static_cast<size_t>(stride_of(shape)) * form.key_bytes();
    std::vector<char> keys(static_cast<size_t>(shape.rows) * row);
    Random random = {1};
    for (int64_t r = 0; r < shape.rows; r++)
        if (!fill_keys(&keys[static_cast<size_t>(r) * row], form.dtype, shape.columns, values,
                       &random))
            throw std::runtime_error("no memory for keys");
    return keys;
}

std::vector<char> make_payload(const bench::Shape &shape, const Form &form) {
    std::vector<char> payload(static_cast<size_t>(shape.rows * stride_of(shape)) *
                              static_cast<size_t>(form.payload_bytes));
    Random random = {2};
    for (char &byte : payload)
        byte = static_cast<char>(random_bits(&random));
    return payload;
}

class RadixCase : public bench::Case {
  public:
    RadixCase(tle_handle h, const bench::Settings &settings, const bench::Shape &of)
        : RadixCase(h, settings, of, make_keys(of, form_of(of), settings.values),
                    make_payload(of, form_of(of))) {
    }

    void call(int copy, tle_stream stream) const override {
        tle_radix_select_params p = params();
        p.keys = keys.copy(copy);
        check(tle_radix_select(handle, &p, workspace.at(0), workspace_size, stream));
    }
    void wipe() override {
        indices.wipe();
        values.wipe();
        payload_out.wipe();
    }
    bool right() override {
        return indices.right() && values.right() && payload_out.right();
    }

  private:
    RadixCase(tle_handle h, const bench::Settings &settings, const bench::Shape &of,
              const std::vector<char> &host, const std::vector<char> &host_payload)
        : handle(h), shape(of), form(form_of(of)), keys(h, host, settings.calls),
          payload(h, host_payload, 1), indices(h, places() * sizeof(int32_t)),
          values(h, form.values ? places() * form.key_bytes() : 0),
          payload_out(h, places() * static_cast<size_t>(form.payload_bytes)),
          workspace_size(query_workspace()), workspace(h, workspace_size) {
        ReferenceRadix reference = {};
        reference.dtype = form.dtype;
        reference.keys = host.data();
        reference.rows = shape.rows;
        reference.columns = shape.columns;
        reference.key_row_stride = reference.payload_row_stride = stride_of(shape);
        reference.k = shape.k;
        reference.smallest = form.smallest;
        reference.sorted = form.sorted;
        reference.payload_bytes = static_cast<size_t>(form.payload_bytes);
        reference.payload = host_payload.data();
        reference.indices = reinterpret_cast<int32_t *>(indices.reference());
        reference.values = form.values ? values.reference() : nullptr;
        reference.payload_out = form.payload_bytes ? payload_out.reference() : nullptr;
        reference.index_row_stride = reference.value_row_stride = shape.k;
        reference.payload_out_row_stride = shape.k;
        if (!reference_radix(&reference))
            throw std::runtime_error("no memory for the reference");
    }

    size_t places() const {
        return static_cast<size_t>(shape.rows * shape.k);
    }

    tle_radix_select_params params() const {
        tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
        p.dtype = form.dtype;
        p.rows = shape.rows;
        p.columns = shape.columns;
        p.k = shape.k;
        p.keys = keys.copy(0);
        p.key_row_stride = p.payload_row_stride = stride_of(shape);
        p.order = form.smallest ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
        p.sorted = form.sorted;
        p.payload_bytes = form.payload_bytes;
        p.payload = form.payload_bytes ? payload.copy(0) : nullptr;
        p.indices = static_cast<int32_t *>(indices.device());
        p.values = form.values ? values.device() : nullptr;
        p.payload_out = form.payload_bytes ? payload_out.device() : nullptr;
        p.index_row_stride = p.value_row_stride = p.payload_out_row_stride = shape.k;
        return p;
    }

    size_t query_workspace() const {
        tle_radix_select_params p = params();
        size_t size = 0;
        check(tle_radix_select_workspace_size(handle, &p, &size));
        return size;
    }

    tle_handle handle;
    bench::Shape shape;
    Form form;
    bench::Ring keys, payload;
    bench::Output indices, values, payload_out;
    size_t workspace_size;
    bench::Memory workspace;
};

bench::Label label(const bench::Shape &shape) {
    Form form = form_of(shape);
    bench::Label label = {form.type, form.key_bytes(), {}};
    if (form.smallest)
        label.extra.emplace_back("smallest", 1);
    if (form.sorted)
        label.extra.emplace_back("sorted", 1);
    if (form.values)
        label.extra.emplace_back("values", 1);
    if (form.payload_bytes)
        label.extra.emplace_back("payload", form.payload_bytes);
    return label;
}

std::unique_ptr<bench::Case> make(tle_handle handle, const bench::Settings &settings,
                                  const bench::Shape &shape) {
    return std::make_unique<RadixCase>(handle, settings, shape);
}

} // namespace

int main(int argc, char **argv) {
    const bench::Operator op = {
        "radix_select",
        "1x4096x64:sorted:values,1x131072x64:sorted:values,64x4096x64:sorted:values,"
        "64x131072x64:sorted:values,256x131072x64:sorted:values,64x131072x2048:bf16,"
        "64x131072x2048:fp16:smallest,64x131072x2048:i32,64x131072x2048:i64,"
        "64x131072x2048:payload4,64x131072x20000,256x8192x8192:sorted:values,"
        "256x8192x8192:i64:sorted:smallest:payload8,256x128x8:sorted:values",
        "1x1x1,2x300x7:bf16:sorted:values,2x3000x512:i64:smallest:payload8,1x9001x2048:u32:"
        "payload4,"
        "3x2000x2000:fp16:sorted:values,2x5000x4096:fp64",
        label, make};
    return bench::benchmark_operator(op, argc, argv);
}
