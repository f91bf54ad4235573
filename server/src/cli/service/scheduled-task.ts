import { listSettings } from '../../config/config.ts'
import { escapeXml } from './launch-agent.ts'
import type { Service } from './service.ts'

/** A task has no environment, so settings become flags. See the Task Scheduler schema, version 1.2. */
export function formatScheduledTask({ command, cwd, environment }: Service): string {
  const [program = '', ...args] = command
  const flags = listSettings().flatMap(({ env, flag }) => {
    const value = environment[env]
    return value === undefined ? [] : [flag, value]
  })
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Causeway, an MCP server that all clients share</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(program)}</Command>
      <Arguments>${escapeXml([...args, ...flags].map(quoteArgument).join(' '))}</Arguments>
      <WorkingDirectory>${escapeXml(cwd)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`
}

/** For CommandLineToArgvW: backslashes before a quote are doubled. */
export const quoteArgument = (text: string): string =>
  /^[^\s"]+$/.test(text) ? text : `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`
