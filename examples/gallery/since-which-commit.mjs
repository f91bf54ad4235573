/** A nightly job of 4 commits and 6 seeds in planck. Commit c3f0 lowers the iterations of the solver. Usage: node since-which-commit.mjs */
import { Box, Vec2, World } from 'planck'
import { recordPlanck } from '../../recorders/js/planck.js'
import { record, waitForDiagnoses } from './send.mjs'

/** Iterations of the solver for velocities and positions, by commit. */
const commits = { a1e5: [8, 3], b27d: [8, 3], c3f0: [1, 0], d942: [1, 0] }

/** Drops boxes on a heap. */
function simulate([velocityIterations, positionIterations], seed, write, constants) {
  let state = seed
  const random = () => {
    state = (state * 16807) % 2147483647
    return state / 2147483647
  }
  const world = new World({ gravity: new Vec2(0, -9.81), allowSleep: false })
  world.createBody({ position: new Vec2(0, -0.5) }).createFixture({ shape: new Box(10, 0.5), friction: 0.5 })
  for (let i = 0; i < 5; i++) {
    const box = world.createBody({
      type: 'dynamic',
      position: new Vec2(0.05 * (random() - 0.5), 0.52 + 1.04 * i),
    })
    box.createFixture({ shape: new Box(0.5, 0.5), density: 1, friction: 0.5 })
  }
  const recorder = recordPlanck(world, write, { dt: 1 / 60, ...constants })
  for (let step = 0; step < 90; step++) {
    world.step(1 / 60, velocityIterations, positionIterations)
    recorder.step()
  }
  recorder.close()
}

let count = 0
for (const [commit, iterations] of Object.entries(commits))
  for (let seed = 1; seed <= 6; seed++) {
    const constants = { commit, seed, scenario: 'tower' }
    await record(`tower-${commit}-${seed}`, (write) => simulate(iterations, seed, write, constants))
    count += 1
  }
await waitForDiagnoses()
process.stdout.write(`${count} runs of ${Object.keys(commits).length} commits\n`)
