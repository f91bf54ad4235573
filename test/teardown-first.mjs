/**
 * Loaded into every test process before its tests: runs `t.teardown` callbacks before `t.testdir` is deleted. tap runs the last
 * registered callback first, so the folder of a test that called `t.testdir` before it started a server was deleted while the server
 * still wrote to it.
 */
import t, { TestBase } from 'tap'

const { main } = TestBase.prototype
TestBase.prototype.main = function (callback) {
  this.t.teardown(() => {})
  return main.call(this, callback)
}
t.teardown(() => {})
