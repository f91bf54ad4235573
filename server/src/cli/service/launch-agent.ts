import type { Service } from './service.ts'

export const agentLabel = 'causeway'

/** See launchd.plist(5). */
export function formatLaunchAgent({ command, cwd, environment, shutdownMs }: Service): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${agentLabel}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${escapeXml(word)}</string>\n`).join('')}  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(cwd)}</string>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(environment)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${escapeXml(value)}</string>\n`)
  .join('')}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <!-- Restart after a crash, at most every 10 seconds. -->
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${Math.ceil(shutdownMs / 1000) + 10}</integer>
  <!-- 0077: new files are private. -->
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`
}

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
