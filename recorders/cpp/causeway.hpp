// Records a physics simulation to an MCAP file that Causeway diagnoses. One header, C++17, no dependencies. MIT licence.
//
//   causeway::Run run;
//   run.dt = 0.01;
//   run.bodies.resize(1);
//   run.bodies[0].id = 1;
//   causeway::Recorder recorder("run.mcap", run);
//   while (running) {
//     step();
//     causeway::Frame frame;
//     frame.position = {x, y, z};
//     recorder.write(frame);
//   }
//
// causeway.proto lists every member with its unit. An empty vector or optional is not known.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway {

struct Shape {
  std::string kind;  // sphere, capsule, box or plane
  std::optional<double> radius, half_length;
};

struct Body {
  std::uint32_t id = 0;
  std::optional<double> mass, restitution, friction;
  std::vector<double> inertia, half_extents;  // 3 each
  bool is_environment = false;
  std::string name;
  std::optional<Shape> shape;
  std::vector<double> position, orientation;  // fixed pose of an environment body
  std::optional<std::uint32_t> group;         // bodies that joints connect have the same number
  std::vector<std::uint32_t> ignores;         // bodies with which the engine makes no contacts
  std::vector<double> surface_velocity;       // 3, m/s, world, relative to the body, such as that of a conveyor belt
};

// The axes and orders of the engine, if they differ from z up, right-handed, w first, normals from a to b.
struct Convention {
  std::string up = "z", handedness = "right", quaternion = "wxyz", normal = "a_to_b";
};

struct Run {
  std::string engine;
  std::optional<double> dt;
  std::vector<double> gravity;  // 3
  std::string lambda_unit;      // "N·s" or "N"
  std::vector<Body> bodies;
  std::optional<Convention> convention;
  std::string commit, branch, scenario, host, engine_version;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> tags;
  std::optional<std::uint32_t> substeps;  // steps of the engine per frame, if only the last has contacts
};

namespace detail {

// Returns the first line of a file, without spaces at its end; empty if it cannot be read.
inline std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  line.erase(line.find_last_not_of(" \t\r\n") + 1);
  return line;
}

inline bool is_commit(const std::string& text) {
  return text.size() >= 40 && text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Finds the commit and the branch of the working directory in the files of git, without running git. A detached head has no
// branch. Both are empty outside of a repository.
inline std::pair<std::string, std::string> read_git() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder = fs::current_path(error), git;
  for (; !error && !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) git = folder / ".git";
    if (!git.empty() || folder == folder.parent_path()) break;
  }
  if (git.empty()) return {};
  // In a worktree or a submodule, .git is a file with the path of the folder.
  if (fs::is_regular_file(git, error)) {
    const std::string line = first_line(git);
    if (line.rfind("gitdir: ", 0) != 0) return {};
    git = folder / line.substr(8);
  }
  const std::string head = first_line(git / "HEAD");
  if (is_commit(head)) return {head, ""};
  if (head.rfind("ref: ", 0) != 0) return {};
  const std::string ref = head.substr(5);
  const std::string branch = ref.rfind("refs/heads/", 0) == 0 ? ref.substr(11) : "";
  // The refs of a worktree are in the folder of the repository.
  const std::string shared = first_line(git / "commondir");
  const fs::path common = shared.empty() ? git : git / shared;
  for (const fs::path& base : {git, common})
    if (const std::string commit = first_line(base / ref); is_commit(commit)) return {commit, branch};
  std::ifstream packed(common / "packed-refs");
  for (std::string line; std::getline(packed, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.substr(space + 1) != ref) continue;
    if (const std::string commit = line.substr(0, space); is_commit(commit)) return {commit, branch};
  }
  return {};
}

}  // namespace detail

// Returns the run with what it does not declare of its provenance from the environment: CAUSEWAY_COMMIT, CAUSEWAY_BRANCH,
// CAUSEWAY_SCENARIO, CAUSEWAY_HOST, CAUSEWAY_ENGINE_VERSION, CAUSEWAY_SEED and CAUSEWAY_TAGS, and those of GitHub and GitLab. Without
// such a commit, commit and branch are those of git in the working directory.
inline Run with_provenance(Run run) {
  const auto find = [](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const char* value = std::getenv(name); value != nullptr && *value != 0) return std::string(value).substr(0, 200);
    return std::string();
  };
  if (run.commit.empty()) run.commit = find({"CAUSEWAY_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"});
  if (run.branch.empty())
    run.branch = find({"CAUSEWAY_BRANCH", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"});
  if (run.commit.empty()) {
    const auto [commit, branch] = detail::read_git();
    run.commit = commit;
    if (run.branch.empty()) run.branch = branch.substr(0, 200);
  }
  if (run.scenario.empty()) run.scenario = find({"CAUSEWAY_SCENARIO"});
  if (run.host.empty()) run.host = find({"CAUSEWAY_HOST", "HOSTNAME"});
  if (run.engine_version.empty()) run.engine_version = find({"CAUSEWAY_ENGINE_VERSION"});
  const std::string seed = find({"CAUSEWAY_SEED"});
  const bool is_whole = !seed.empty() && seed.size() <= 15 && seed.find_first_not_of("0123456789") == std::string::npos;
  if (!run.seed && is_whole) run.seed = std::strtoull(seed.c_str(), nullptr, 10);
  std::string tag;
  if (run.tags.empty())
    for (const char letter : find({"CAUSEWAY_TAGS"}) + ",") {
      if (letter != ',') tag += letter;
      else if (!tag.empty()) run.tags.push_back(std::exchange(tag, ""));
    }
  return run;
}

// Columns are row-major: one row per body, per contact point or per force.
struct Frame {
  std::optional<std::uint64_t> frame_id;  // by default, one more than the last
  std::optional<double> time, wall_time;  // time: by default, frame_id * dt
  std::vector<std::uint32_t> body_id;     // by default, the bodies of the run that move
  std::vector<double> position, velocity, acceleration, orientation;
  std::vector<double> angular_velocity, angular_velocity_world, angular_acceleration;
  bool contacts_known = false;  // without rows: nothing touches
  std::vector<std::uint32_t> contact_a, contact_b;
  std::vector<double> contact_point, contact_normal, contact_depth, contact_tangent1, contact_tangent2;
  std::vector<double> contact_friction, contact_restitution;
  std::vector<double> contact_normal_impulse, contact_tangent1_impulse, contact_tangent2_impulse;
  std::optional<double> solver_iterations, solver_residual;
  std::optional<bool> solver_converged;
  std::vector<std::uint32_t> force_body;
  std::vector<double> force, torque, force_at;
  std::vector<std::uint32_t> joint_a, joint_b, joint_kind;  // kind: 0 other, 1 fixed, 2 hinge, 3 slider, 4 ball
  std::vector<double> joint_point, joint_impulse, joint_torque, joint_position_error;
};

namespace detail {

// Bytes in the order of MCAP and Protobuf, which is little-endian.
class Bytes {
 public:
  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }

  template <typename Integer>
  Bytes& integer(Integer value, std::size_t bytes = sizeof(Integer)) {
    for (std::size_t i = 0; i < bytes; i++) text_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
    return *this;
  }
  Bytes& raw(const std::string& bytes) {
    text_ += bytes;
    return *this;
  }
  Bytes& string(const std::string& value) { return integer(static_cast<std::uint32_t>(value.size())).raw(value); }
  Bytes& real(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return integer(bits);
  }
  Bytes& varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) text_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    text_.push_back(static_cast<char>(value));
    return *this;
  }

  // Fields of Protobuf. Values that are not known are not written.
  Bytes& field(int number, const std::string& bytes) {
    return bytes.empty() ? *this : message(number, bytes);
  }
  Bytes& message(int number, const std::string& bytes) { return varint(number << 3 | 2).varint(bytes.size()).raw(bytes); }
  Bytes& field(int number, const std::optional<double>& value) {
    return value ? varint(number << 3 | 1).real(*value) : *this;
  }
  Bytes& field(int number, const std::vector<double>& values) {
    Bytes packed;
    packed.text_.reserve(values.size() * sizeof(double));
    for (double value : values) packed.real(value);
    return field(number, packed.text_);
  }
  Bytes& field(int number, const std::vector<std::uint32_t>& values) {
    Bytes packed;
    for (std::uint32_t value : values) packed.varint(value);
    return field(number, packed.text_);
  }
  Bytes& whole(int number, std::uint64_t value) { return varint(number << 3).varint(value); }

 private:
  std::string text_;
};

inline std::string encode(const Shape& shape) {
  return Bytes().field(1, shape.kind).field(2, shape.radius).field(3, shape.half_length).text();
}

inline std::string encode(const Body& body) {
  Bytes bytes;
  bytes.whole(1, body.id).field(2, body.mass).field(3, body.restitution).field(4, body.friction);
  bytes.field(5, body.inertia).field(6, body.half_extents);
  if (body.is_environment) bytes.whole(7, 1);
  bytes.field(8, body.name);
  if (body.shape) bytes.message(9, encode(*body.shape));
  bytes.field(10, body.position).field(11, body.orientation);
  if (body.group) bytes.whole(12, *body.group);
  bytes.field(13, body.ignores).field(14, body.surface_velocity);
  return bytes.text();
}

inline std::string encode(const Run& run) {
  Bytes bytes;
  bytes.field(1, run.engine).field(2, run.dt).field(3, run.gravity).field(4, run.lambda_unit);
  for (const Body& body : run.bodies) bytes.message(5, encode(body));
  if (run.convention) {
    const Convention& convention = *run.convention;
    Bytes own;
    own.field(1, convention.up).field(2, convention.handedness).field(3, convention.quaternion).field(4, convention.normal);
    bytes.message(6, own.text());
  }
  bytes.field(7, run.commit).field(8, run.branch).field(9, run.scenario);
  if (run.seed) bytes.whole(10, *run.seed);
  for (const std::string& tag : run.tags) bytes.field(11, tag);
  bytes.field(12, run.host).field(13, run.engine_version);
  if (run.substeps) bytes.whole(14, *run.substeps);
  return bytes.text();
}

inline std::string encode(const Frame& frame) {
  Bytes bytes;
  bytes.whole(1, frame.frame_id.value_or(0)).field(2, frame.time).field(3, frame.wall_time);
  bytes.field(4, frame.body_id).field(5, frame.position).field(6, frame.velocity).field(7, frame.acceleration);
  bytes.field(8, frame.orientation).field(9, frame.angular_velocity).field(10, frame.angular_velocity_world);
  bytes.field(11, frame.angular_acceleration);
  if (frame.contacts_known || !frame.contact_a.empty()) bytes.whole(20, 1);
  bytes.field(21, frame.contact_a).field(22, frame.contact_b).field(23, frame.contact_point);
  bytes.field(24, frame.contact_normal).field(25, frame.contact_depth).field(26, frame.contact_tangent1);
  bytes.field(27, frame.contact_tangent2).field(28, frame.contact_friction).field(29, frame.contact_restitution);
  bytes.field(30, frame.contact_normal_impulse).field(31, frame.contact_tangent1_impulse);
  bytes.field(32, frame.contact_tangent2_impulse).field(40, frame.solver_iterations).field(41, frame.solver_residual);
  if (frame.solver_converged) bytes.whole(42, *frame.solver_converged ? 1 : 0);
  bytes.field(50, frame.force_body).field(51, frame.force).field(52, frame.torque).field(53, frame.force_at);
  bytes.field(60, frame.joint_a).field(61, frame.joint_b).field(62, frame.joint_kind).field(63, frame.joint_point);
  bytes.field(64, frame.joint_impulse).field(65, frame.joint_torque).field(66, frame.joint_position_error);
  return bytes.text();
}

// A field of the schema: name, number, type. The types of Protobuf: 1 double, 4 uint64, 8 bool, 9 string, 11 message, 13 uint32.
struct SchemaField {
  const char* name;
  int number;
  int type;
  bool is_repeated;
  const char* message;
};

inline std::string describe(const std::string& name, const std::vector<SchemaField>& fields) {
  Bytes message;
  message.field(1, name);
  for (const SchemaField& field : fields) {
    Bytes own;
    own.field(1, std::string(field.name)).whole(3, field.number).whole(4, field.is_repeated ? 3 : 1).whole(5, field.type);
    if (field.message != nullptr) own.field(6, std::string(".causeway.v1.") + field.message);
    else if (field.is_repeated && field.type != 9) own.message(8, Bytes().whole(2, 1).text());
    message.message(2, own.text());
  }
  return message.text();
}

// The FileDescriptorSet of causeway.proto, by which other programs read the messages.
inline std::string file_descriptor_set() {
  const auto number = [](const char* name, int field) { return SchemaField{name, field, 1, false, nullptr}; };
  const auto numbers = [](const char* name, int field) { return SchemaField{name, field, 1, true, nullptr}; };
  const auto text = [](const char* name, int field) { return SchemaField{name, field, 9, false, nullptr}; };
  const auto flag = [](const char* name, int field) { return SchemaField{name, field, 8, false, nullptr}; };
  const auto ids = [](const char* name, int field) { return SchemaField{name, field, 13, true, nullptr}; };
  Bytes file;
  file.field(1, std::string("causeway.proto")).field(2, std::string("causeway.v1"));
  file.message(4, describe("Run", {text("engine", 1), number("dt", 2), numbers("gravity", 3), text("lambda_unit", 4),
                                   SchemaField{"bodies", 5, 11, true, "Body"},
                                   SchemaField{"convention", 6, 11, false, "Convention"}, text("commit", 7),
                                   text("branch", 8), text("scenario", 9), SchemaField{"seed", 10, 4, false, nullptr},
                                   SchemaField{"tags", 11, 9, true, nullptr}, text("host", 12), text("engine_version", 13),
                                   SchemaField{"substeps", 14, 13, false, nullptr}}));
  file.message(4, describe("Body", {SchemaField{"id", 1, 13, false, nullptr}, number("mass", 2), number("restitution", 3),
                                    number("friction", 4), numbers("inertia", 5), numbers("half_extents", 6),
                                    flag("is_environment", 7), text("name", 8), SchemaField{"shape", 9, 11, false, "Shape"},
                                    numbers("position", 10), numbers("orientation", 11),
                                    SchemaField{"group", 12, 13, false, nullptr}, ids("ignores", 13),
                                    numbers("surface_velocity", 14)}));
  file.message(4, describe("Shape", {text("kind", 1), number("radius", 2), number("half_length", 3)}));
  file.message(4, describe("Convention", {text("up", 1), text("handedness", 2), text("quaternion", 3), text("normal", 4)}));
  file.message(
      4, describe("Frame",
                  {SchemaField{"frame_id", 1, 4, false, nullptr}, number("time", 2), number("wall_time", 3), ids("body_id", 4),
                   numbers("position", 5), numbers("velocity", 6), numbers("acceleration", 7), numbers("orientation", 8),
                   numbers("angular_velocity", 9), numbers("angular_velocity_world", 10), numbers("angular_acceleration", 11),
                   flag("contacts_known", 20), ids("contact_a", 21), ids("contact_b", 22), numbers("contact_point", 23),
                   numbers("contact_normal", 24), numbers("contact_depth", 25), numbers("contact_tangent1", 26),
                   numbers("contact_tangent2", 27), numbers("contact_friction", 28), numbers("contact_restitution", 29),
                   numbers("contact_normal_impulse", 30), numbers("contact_tangent1_impulse", 31),
                   numbers("contact_tangent2_impulse", 32), number("solver_iterations", 40), number("solver_residual", 41),
                   flag("solver_converged", 42), ids("force_body", 50), numbers("force", 51), numbers("torque", 52),
                   numbers("force_at", 53), ids("joint_a", 60), ids("joint_b", 61), ids("joint_kind", 62),
                   numbers("joint_point", 63), numbers("joint_impulse", 64), numbers("joint_torque", 65),
                   numbers("joint_position_error", 66)}));
  return Bytes().message(1, file.text()).text();
}

inline std::uint32_t crc32(const std::string& bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < 256; i++) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320u ^ (value >> 1) : value >> 1;
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

// A record of MCAP (https://mcap.dev/spec).
inline std::string record(std::uint8_t opcode, const std::string& content) {
  return Bytes().integer(opcode).integer(static_cast<std::uint64_t>(content.size())).raw(content).text();
}

inline std::string integer_map(const std::map<std::uint16_t, std::uint64_t>& values) {
  Bytes entries;
  for (const auto& [key, value] : values) entries.integer(key).integer(value);
  return Bytes().string(entries.text()).text();
}

}  // namespace detail

// Writes frames to a file. A failure to write never stops the simulation: `failed()` becomes true and later frames are
// ignored. Not safe for use by several threads at once.
class Recorder {
 public:
  Recorder(const std::string& path, const Run& run) : dt_(run.dt), file_(std::fopen(path.c_str(), "wb")) {
    failed_ = file_ == nullptr;
    const std::string magic("\x89MCAP0\r\n", 8);
    put(magic + detail::record(0x01, detail::Bytes().string("").string("causeway.hpp").text()) + channels());
    add(run_channel, 0, detail::encode(with_provenance(run)));
  }
  ~Recorder() { close(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Whether the file could not be written.
  bool failed() const { return failed_; }

  void write(Frame frame) {
    if (file_ == nullptr) return;
    if (!frame.frame_id) frame.frame_id = last_frame_ + 1;
    if (!frame.time && dt_) frame.time = *dt_ * static_cast<double>(*frame.frame_id);
    last_frame_ = *frame.frame_id;
    const bool has_time = frame.time && std::isfinite(*frame.time) && *frame.time > 0;
    add(frame_channel, has_time ? static_cast<std::uint64_t>(std::llround(*frame.time * 1e9)) : 0, detail::encode(frame));
  }

  // Writes the frames so far. They survive a crash of the program.
  void flush() {
    if (file_ == nullptr || records_.size() == 0) return;
    write_chunk();
    if (file_ != nullptr && std::fflush(file_) != 0) fail();
  }

  // Completes the file.
  void close() {
    if (file_ == nullptr) return;
    flush();
    write_summary();
    if (file_ != nullptr && std::fclose(file_) != 0) failed_ = true;
    file_ = nullptr;
  }

 private:
  static constexpr std::uint16_t run_channel = 1, frame_channel = 2;
  static constexpr std::size_t chunk_bytes = 256 * 1024;
  static constexpr std::chrono::seconds chunk_time{1};

  struct Entry {
    std::uint64_t time, offset;
  };

  std::optional<double> dt_;
  std::FILE* file_;
  bool failed_ = false;
  std::uint64_t last_frame_ = 0, offset_ = 0, start_ = UINT64_MAX, end_ = 0;
  std::uint32_t sequence_ = 0;
  detail::Bytes records_;
  std::map<std::uint16_t, std::vector<Entry>> entries_;
  std::map<std::uint16_t, std::uint64_t> counts_{{run_channel, 0}, {frame_channel, 0}};
  std::vector<std::string> chunk_indexes_;
  std::uint64_t total_start_ = UINT64_MAX, total_end_ = 0;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();

  static std::string channels() {
    const std::string descriptor = detail::file_descriptor_set();
    const std::pair<std::uint16_t, std::pair<const char*, const char*>> all[] = {
        {run_channel, {"causeway.v1.Run", "/causeway/run"}}, {frame_channel, {"causeway.v1.Frame", "/causeway/frame"}}};
    std::string records;
    for (const auto& [id, names] : all) {
      detail::Bytes schema, channel;
      schema.integer(id).string(names.first).string("protobuf").string(descriptor);
      channel.integer(id).integer(id).string(names.second).string("protobuf").integer(std::uint32_t{0});
      records += detail::record(0x03, schema.text()) + detail::record(0x04, channel.text());
    }
    return records;
  }

  void add(std::uint16_t channel, std::uint64_t time, const std::string& data) {
    entries_[channel].push_back({time, records_.size()});
    counts_[channel] += 1;
    start_ = std::min(start_, time);
    end_ = std::max(end_, time);
    detail::Bytes message;
    message.integer(channel).integer(sequence_++).integer(time).integer(time).raw(data);
    records_.raw(detail::record(0x05, message.text()));
    if (records_.size() >= chunk_bytes || std::chrono::steady_clock::now() - flushed_ >= chunk_time) flush();
  }

  void write_chunk() {
    const std::uint64_t size = records_.size(), chunk_start = offset_;
    detail::Bytes chunk;
    chunk.integer(start_).integer(end_).integer(size).integer(detail::crc32(records_.text())).string("").integer(size);
    put(detail::record(0x06, chunk.raw(records_.text()).text()));
    const std::uint64_t chunk_length = offset_ - chunk_start;
    std::map<std::uint16_t, std::uint64_t> index_offsets;
    for (const auto& [channel, list] : entries_) {
      detail::Bytes rows;
      for (const Entry& entry : list) rows.integer(entry.time).integer(entry.offset);
      index_offsets[channel] = offset_;
      put(detail::record(0x07, detail::Bytes().integer(channel).string(rows.text()).text()));
    }
    detail::Bytes index;
    index.integer(start_).integer(end_).integer(chunk_start).integer(chunk_length).raw(detail::integer_map(index_offsets));
    index.integer(offset_ - chunk_start - chunk_length).string("").integer(size).integer(size);
    chunk_indexes_.push_back(detail::record(0x08, index.text()));
    total_start_ = std::min(total_start_, start_);
    total_end_ = std::max(total_end_, end_);
    start_ = UINT64_MAX;
    end_ = 0;
    records_ = detail::Bytes();
    entries_.clear();
    flushed_ = std::chrono::steady_clock::now();
  }

  void write_summary() {
    put(detail::record(0x0f, detail::Bytes().integer(std::uint32_t{0}).text()));
    const std::uint64_t summary = offset_;
    std::uint64_t total = 0;
    for (const auto& [channel, count] : counts_) total += count;
    detail::Bytes statistics;
    statistics.integer(total).integer(std::uint16_t{2}).integer(std::uint32_t{2}).integer(std::uint32_t{0});
    statistics.integer(std::uint32_t{0}).integer(static_cast<std::uint32_t>(chunk_indexes_.size()));
    statistics.integer(total_start_).integer(total_end_).raw(detail::integer_map(counts_));
    std::string records = channels() + detail::record(0x0b, statistics.text());
    for (const std::string& index : chunk_indexes_) records += index;
    detail::Bytes footer;
    footer.integer(summary).integer(std::uint64_t{0}).integer(std::uint32_t{0});
    put(records + detail::record(0x02, footer.text()) + std::string("\x89MCAP0\r\n", 8));
  }

  void put(const std::string& bytes) {
    if (file_ == nullptr) return;
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
    offset_ += bytes.size();
  }

  void fail() {
    failed_ = true;
    if (file_ != nullptr) std::fclose(file_);
    file_ = nullptr;
  }
};

}  // namespace causeway
