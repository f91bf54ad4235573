import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from '@causeway/protocol'
import { agentLabel, formatLaunchAgent } from './launch-agent.ts'
import { formatScheduledTask } from './scheduled-task.ts'
import type { Service } from './service.ts'
import { formatSystemdUnit } from './systemd-unit.ts'

export interface ServiceManager {
  readonly title: string
  /** Whether the service manager, not the program, reads `environmentFile`. */
  readonly readsEnvironmentFile: boolean
  readonly encoding: 'utf8' | 'utf16le'
  readonly isAvailable: (machine: Machine) => boolean
  readonly file: (machine: Machine) => string
  readonly format: (service: Service) => string
  /** Commands that start the service now and at every login. Optional ones may fail. */
  readonly steps: (
    file: string,
  ) => readonly { readonly command: readonly string[]; readonly optional?: true }[]
  readonly note: string
}

const unit = 'causeway.service'

const systemd: ServiceManager = {
  title: 'systemd',
  readsEnvironmentFile: true,
  encoding: 'utf8',
  isAvailable: ({ platform, env: { XDG_RUNTIME_DIR: runtime } }) =>
    platform === 'linux' && runtime !== undefined && existsSync(join(runtime, 'systemd')),
  file: (machine) => join(findUnixConfig(machine), 'systemd/user', unit),
  format: formatSystemdUnit,
  steps: () =>
    [['daemon-reload'], ['enable', '--now', unit]].map((args) => ({
      command: ['systemctl', '--user', ...args],
    })),
  note: 'the service stops when you log out; to prevent it: loginctl enable-linger',
}

const launchd: ServiceManager = {
  title: 'launchd',
  readsEnvironmentFile: false,
  encoding: 'utf8',
  isAvailable: () => true,
  file: ({ home }) => join(home, 'Library/LaunchAgents', `${agentLabel}.plist`),
  format: formatLaunchAgent,
  steps: (file) => {
    const domain = `gui/${process.getuid?.() ?? 0}`
    return [
      { command: ['launchctl', 'bootout', `${domain}/${agentLabel}`], optional: true },
      { command: ['launchctl', 'bootstrap', domain, file] },
    ]
  },
  note: 'the service stops when you log out; to stop it earlier: launchctl bootout gui/$(id -u)/causeway',
}

const taskScheduler: ServiceManager = {
  title: 'Task Scheduler',
  readsEnvironmentFile: false,
  encoding: 'utf16le',
  isAvailable: () => true,
  file: (machine) => join(findUnixConfig(machine), 'causeway', 'task.xml'),
  format: formatScheduledTask,
  steps: (file) => [
    { command: ['schtasks', '/Create', '/TN', 'Causeway', '/XML', file, '/F'] },
    { command: ['schtasks', '/Run', '/TN', 'Causeway'] },
  ],
  note: 'the server runs in a window of its own; close the window to stop it',
}

export function findServiceManager({ platform }: Machine): ServiceManager {
  if (platform === 'darwin') return launchd
  return platform === 'win32' ? taskScheduler : systemd
}

export const findUnixConfig = ({ env, home }: Machine): string => env.XDG_CONFIG_HOME || join(home, '.config')
