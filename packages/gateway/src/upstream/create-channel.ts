import { homedir } from 'node:os'
import type { ServerLogin } from '@causeway/oauth'
import type { RenderedEndpoint } from '../config/index.ts'
import type { Channel } from './channel.ts'
import { HttpChannel, SseChannel } from './http-channel.ts'
import type { PidFile } from './pid-file.ts'
import { StdioChannel } from './stdio-channel.ts'

export interface ChannelContext {
  readonly server: string
  /** Default working folder of a child. */
  readonly project: string | undefined
  readonly now: () => number
  readonly pidFile?: PidFile | undefined
  readonly login?: ServerLogin | undefined
  onOutput(source: 'stderr' | 'stdout', line: string): void
}

export function createChannel(endpoint: RenderedEndpoint, context: ChannelContext): Channel {
  const { server, project, now, pidFile, login, onOutput } = context
  if (endpoint.kind === 'stdio') {
    const { command, args, env, cwd = project ?? homedir(), secrets = [] } = endpoint
    return new StdioChannel({ command, args, env, cwd, secrets, now, pidFile, onOutput })
  }
  const { kind, url, headers } = endpoint
  const options = { kind, server, url, headers, login }
  return kind === 'http' ? new HttpChannel(options) : new SseChannel(options)
}
