import { runCommand } from './cli/run.ts'

const { argv, env, stdin, stdout, stderr } = process
// A reader such as `head` may close the pipe early.
stdout.on('error', () => process.exit(1))
process.exitCode = await runCommand({ argv: argv.slice(2), env, cwd: process.cwd(), stdin, stdout, stderr })
