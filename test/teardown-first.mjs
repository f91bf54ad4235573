/**
 * Loaded into every test process before its tests: runs `t.teardown` callbacks before `t.testdir` is deleted. tap runs the last
 * registered callback first, so the folder of a test that called `t.testdir` before it started a server was deleted while the server
 * still wrote to it. Also fails a process that creates a test after the end of tap, which only prints an error: tap ends when its tests
 * have ended, for example during an `await` between two tests.
 */
import t, { TestBase } from 'tap'

const { main } = TestBase.prototype
TestBase.prototype.main = function (callback) {
  this.t.teardown(() => {})
  return main.call(this, callback)
}
t.teardown(() => {})

const { sub } = TestBase.prototype
TestBase.prototype.sub = function (...args) {
  if (this.results || this.ended) process.exitCode = 1
  return sub.apply(this, args)
}
