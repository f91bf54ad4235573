/**
 * Loaded into every test process before its tests: what a test leaves to `t.teardown` is done before its `t.testdir` is taken
 * away. The test runner does the one that was asked for last, first: a test that asks for its folder and then starts a server
 * in it had the folder deleted under that server, and a file which the server wrote meanwhile failed the test.
 */
import t, { TestBase } from 'tap'

const { main } = TestBase.prototype
TestBase.prototype.main = function (callback) {
  this.t.teardown(() => {})
  return main.call(this, callback)
}
t.teardown(() => {})
