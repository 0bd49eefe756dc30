#include "support/record.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

const struct {
    const char *device;
    double bytes_per_second;
} read_speeds[] = {{"NVIDIA H200", 4.40e12}};

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        char escape[8];
        if (c == '"' || c == '\\')
            out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string number(const std::optional<double> &value) {
    char text[40] = "null";
    if (value)
        std::snprintf(text, sizeof text, "%.3f", *value);
    return text;
}

std::string shape_json(const Row &row) {
    std::string out;
    for (const auto &[name, size] : row.shape)
        out += (out.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(size);
    return "{" + out + "}";
}

std::string row_json(const Row &row) {
    return "{\"op\": " + quoted(row.op) + ", \"shape\": " + shape_json(row) +
           ", \"dtype\": " + quoted(row.dtype) + ", \"impl\": " + quoted(row.impl) +
           ", \"version\": " + quoted(row.version) + ", \"variant\": " + quoted(row.variant) +
           ", \"us_hot\": " + number(row.us_hot) + ", \"us_cold\": " + number(row.us_cold) +
           ", \"floor_us\": " + number(row.floor_us) +
           ", \"correct\": " + (row.correct ? "true" : "false") +
           ", \"spread\": " + number(row.spread) + "}";
}

// The time that the given part of all times does not exceed.
double quantile(std::vector<double> &times, double part) {
    std::sort(times.begin(), times.end());
    size_t last = times.size() - 1;
    return times[std::min(last, static_cast<size_t>(part * static_cast<double>(times.size())))];
}

} // namespace

double median(std::vector<double> times) {
    double upper = quantile(times, 0.5);
    return times.size() % 2 ? upper : (upper + times[times.size() / 2 - 1]) / 2;
}

double spread(std::vector<double> times) {
    return (quantile(times, 0.9) - quantile(times, 0.1)) / median(times);
}

std::optional<double> read_floor_us(const std::string &device, double bytes) {
    for (const auto &speed : read_speeds) {
        if (device == speed.device)
            return bytes / speed.bytes_per_second * 1e6;
    }
    return std::nullopt;
}

void write_record(const std::string &path, const Record &record) {
    std::ofstream file(path);
    file << "{\"schema\": 1, \"device\": " << quoted(record.device)
         << ", \"driver\": " << quoted(record.driver) << ", \"cuda\": " << quoted(record.cuda)
         << ", \"commit\": " << quoted(record.commit) << ", \"command\": " << quoted(record.command)
         << ", \"rows\": [";
    const char *separator = "\n";
    for (const Row &row : record.rows) {
        file << separator << row_json(row);
        separator = ",\n";
    }
    file << "\n]}\n";
    if (!file.flush())
        throw std::runtime_error("cannot write " + path);
}

} // namespace bench
