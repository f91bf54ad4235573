// Records a box that slides on a floor until friction stops it, or until it moves with the belt that the floor is.
// Usage: g++ -std=c++17 sliding_box.cpp -o sliding_box && ./sliding_box [file] [speed of the belt in m/s]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../causeway.hpp"

int main(int count, char** arguments) {
  const double dt = 0.01, g = 9.81, mass = 2, mu = 0.5, half = 0.5;
  causeway::Run run;
  run.engine = "sliding_box.cpp";
  run.dt = dt;
  run.gravity = {0, 0, -g};
  run.lambda_unit = "N·s";
  causeway::Body box, floor;
  box.id = 1;
  floor.id = 2;
  box.name = "box";
  box.mass = mass;
  box.friction = mu;
  box.inertia = {mass / 6, mass / 6, mass / 6};
  box.half_extents = {half, half, half};
  box.shape = causeway::Shape{"box", {}, {}};
  floor.name = "floor";
  floor.is_environment = true;
  floor.shape = causeway::Shape{"plane", {}, {}};
  const double belt = count > 2 ? std::atof(arguments[2]) : 0;
  if (belt != 0) floor.surface_velocity = {belt, 0, 0};
  run.bodies = {box, floor};

  const char* path = count > 1 ? arguments[1] : "box.mcap";
  causeway::Recorder recorder(path, run);
  double x = 0, v = 2;
  for (int i = 0; i < 100; i++) {
    const double before = x, normal = mass * g * dt;
    const double friction = std::clamp(mass * (v - belt), -mu * normal, mu * normal);
    v -= friction / mass;
    x += v * dt;
    causeway::Frame frame;
    frame.position = {x, 0, half};
    frame.velocity = {v, 0, 0};
    frame.orientation = {1, 0, 0, 0};
    frame.angular_velocity = {0, 0, 0};
    frame.contacts_known = true;
    frame.contact_a = {1};
    frame.contact_b = {2};
    // The pressure moves forward, so that the box does not tip.
    frame.contact_point = {before + half * friction / normal, 0, 0};
    frame.contact_normal = {0, 0, -1};
    frame.contact_depth = {0};
    frame.contact_friction = {mu};
    frame.contact_tangent1 = {1, 0, 0};
    frame.contact_tangent2 = {0, 1, 0};
    frame.contact_normal_impulse = {normal};
    frame.contact_tangent1_impulse = {-friction};
    frame.contact_tangent2_impulse = {0};
    recorder.write(frame);
  }
  recorder.close();
  std::printf("%s: %s\n", path, recorder.failed() ? "cannot be written" : "100 frames");
  return recorder.failed() ? 1 : 0;
}
