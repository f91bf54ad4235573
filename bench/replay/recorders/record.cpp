// Records the frames in C++: record <data> <file>. Prints µs of processor time.
#include <cstdio>
#include <ctime>
#include <vector>

#include "../../../recorders/cpp/causeway.hpp"

constexpr std::size_t frames = 1000, boxes = 20, contacts = 4 * boxes, floor_id = boxes + 1;

// Reads the columns of one frame. Returns false at the end of the file.
bool read_frame(std::FILE* file, causeway::Frame& frame) {
  const auto read = [file](std::vector<double>& column, std::size_t count) {
    column.resize(count);
    return std::fread(column.data(), sizeof(double), count, file) == count;
  };
  frame.contacts_known = true;
  for (std::uint32_t i = 0; i < contacts; i++) {
    frame.contact_a.push_back(i / 4 + 1);
    frame.contact_b.push_back(floor_id);
  }
  return read(frame.position, 3 * boxes) && read(frame.velocity, 3 * boxes) && read(frame.orientation, 4 * boxes) &&
         read(frame.angular_velocity, 3 * boxes) && read(frame.contact_point, 3 * contacts) &&
         read(frame.contact_normal, 3 * contacts) && read(frame.contact_depth, contacts) &&
         read(frame.contact_tangent1, 3 * contacts) && read(frame.contact_tangent2, 3 * contacts) &&
         read(frame.contact_friction, contacts) && read(frame.contact_normal_impulse, contacts) &&
         read(frame.contact_tangent1_impulse, contacts) && read(frame.contact_tangent2_impulse, contacts);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::FILE* data = std::fopen(arguments[1], "rb");
  if (data == nullptr) return 1;
  std::vector<causeway::Frame> given;
  for (causeway::Frame frame; read_frame(data, frame); frame = {}) given.push_back(frame);
  std::fclose(data);

  causeway::Run run;
  run.dt = 0.01;
  run.gravity = {0, 0, -9.81};
  run.lambda_unit = "N·s";
  run.bodies.resize(boxes + 1);
  for (std::uint32_t i = 0; i <= boxes; i++) run.bodies[i].id = i + 1;
  for (std::size_t i = 0; i < boxes; i++) run.bodies[i].mass = 1;
  run.bodies[boxes].is_environment = true;
  run.bodies[boxes].shape = causeway::Shape{"plane", {}, {}};

  causeway::Recorder recorder(arguments[2], run);
  const std::clock_t before = std::clock();
  for (std::size_t i = 1; i <= frames; i++) recorder.write(given[i % given.size()]);
  recorder.close();
  std::printf("%.0f", static_cast<double>(std::clock() - before) * 1e6 / CLOCKS_PER_SEC);
  return recorder.failed() ? 1 : 0;
}
