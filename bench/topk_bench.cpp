// topk_bench: times tle_topk_select (support/harness.h).
#include "support/harness.h"

#include <stdexcept>

extern "C" {
#include "cli/reference_topk.h"
}

namespace {

using bench::check;

// Rows apart by a multiple of 256 bytes.
int64_t stride_of(const bench::Shape &shape) {
    return (shape.columns + 63) / 64 * 64;
}

std::vector<char> make_scores(const bench::Shape &shape, ValueKind values) {
    std::vector<char> scores(static_cast<size_t>(shape.rows * stride_of(shape)) * sizeof(float));
    float *first = reinterpret_cast<float *>(scores.data());
    Random random = {1};
    for (int64_t r = 0; r < shape.rows; r++)
        fill_values(first + r * stride_of(shape), shape.columns, values, &random);
    return scores;
}

class TopkCase : public bench::Case {
  public:
    TopkCase(tle_handle h, const bench::Settings &settings, const bench::Shape &of)
        : TopkCase(h, settings, of, make_scores(of, settings.values)) {
    }

    void call(int copy, tle_stream stream) const override {
        tle_topk_select_params p = params();
        p.scores = scores.copy(copy);
        check(tle_topk_select(handle, &p, workspace.at(0), workspace_size, stream));
    }
    void wipe() override {
        indices.wipe();
    }
    bool right() override {
        return indices.right();
    }

  private:
    TopkCase(tle_handle h, const bench::Settings &settings, const bench::Shape &of,
             const std::vector<char> &host)
        : handle(h), shape(of), scores(h, host, settings.calls),
          indices(h, static_cast<size_t>(of.rows * of.k) * sizeof(int32_t)),
          workspace_size(query_workspace()), workspace(h, workspace_size) {
        ReferenceTopk reference = {};
        reference.scores = reinterpret_cast<const float *>(host.data());
        reference.rows = shape.rows;
        reference.columns = shape.columns;
        reference.row_stride = stride_of(shape);
        reference.k = reference.index_row_stride = shape.k;
        reference.indices = reinterpret_cast<int32_t *>(indices.reference());
        if (!reference_topk(&reference))
            throw std::runtime_error("no memory for the reference");
    }

    tle_topk_select_params params() const {
        tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
        p.rows = shape.rows;
        p.columns = shape.columns;
        p.row_stride = stride_of(shape);
        p.k = p.index_row_stride = shape.k;
        p.scores = scores.copy(0);
        p.indices = static_cast<int32_t *>(indices.device());
        return p;
    }

    size_t query_workspace() const {
        tle_topk_select_params p = params();
        size_t size = 0;
        check(tle_topk_select_workspace_size(handle, &p, &size));
        return size;
    }

    tle_handle handle;
    bench::Shape shape;
    bench::Ring scores;
    bench::Output indices;
    size_t workspace_size;
    bench::Memory workspace;
};

bench::Label label(const bench::Shape &shape) {
    if (!shape.form.empty())
        throw std::invalid_argument("'" + shape.form[0] + "': shapes of topk_select have no forms");
    return {"fp32", sizeof(float), {}};
}

std::unique_ptr<bench::Case> make(tle_handle handle, const bench::Settings &settings,
                                  const bench::Shape &shape) {
    return std::make_unique<TopkCase>(handle, settings, shape);
}

} // namespace

int main(int argc, char **argv) {
    const bench::Operator op = {
        "topk_select",
        "1x4096x2048,1x16384x2048,1x65536x2048,1x131072x2048,1x262144x2048,1x1048576x2048,"
        "8x131072x2048,64x4096x2048,64x131072x2048,256x4096x2048,256x16384x2048,256x131072x2048",
        "1x1x1,1x300x7,2x3000x512,1x9001x2048,3x5000x4096", label, make};
    return bench::benchmark_operator(op, argc, argv);
}
