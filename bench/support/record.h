// The JSON file of one run: what bench/results/ keeps and tools/results_table.py reads.
#ifndef BENCH_SUPPORT_RECORD_H
#define BENCH_SUPPORT_RECORD_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// One implementation at one shape. What was not measured is null in the file.
struct Row {
    std::string op;
    std::vector<std::pair<std::string, int64_t>> shape;
    std::string dtype, impl, version, variant;
    std::optional<double> us_hot, us_cold, floor_us, spread;
    bool correct = false;
};

struct Record {
    std::string device, driver, cuda, commit, command;
    std::vector<Row> rows;
};

// The middle of the times, and how far apart they are: (90th percentile - 10th) / median.
double median(std::vector<double> times);
double spread(std::vector<double> times);

// Microseconds that reading this many bytes takes at the speed which a kernel that only reads
// reaches on the device; nothing for devices where that speed was not measured.
std::optional<double> read_floor_us(const std::string &device, double bytes);

// Throws std::runtime_error when the file cannot be written.
void write_record(const std::string &path, const Record &record);

} // namespace bench

#endif
