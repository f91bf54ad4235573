import { escapeHiddenCharacters } from '@causeway/gateway'
import { describeEndpoint, type HostedServer, isSecretName, redactedText } from '@causeway/gateway/config'
import type { Fields } from '../format.ts'

export function describeServer(server: HostedServer): Fields {
  const { endpoint, tools, oauth } = server
  const isProcess = endpoint.kind === 'stdio'
  return [
    [isProcess ? 'command' : endpoint.kind, describeEndpoint(endpoint)],
    ['folder', isProcess ? (endpoint.cwd ?? 'the project of the client') : undefined],
    ['variables', isProcess ? Object.keys(endpoint.env).join(', ') : undefined],
    ['headers', isProcess ? undefined : Object.keys(endpoint.headers).join(', ')],
    ['app', server.app],
    ['share', server.share],
    ['start', server.start === 'lazy' ? undefined : server.start],
    ['concurrency', String(server.concurrency)],
    ['idle timeout', server.idleMs === 0 ? 'none' : `${server.idleMs / 1000} s`],
    ['allowed tools', tools.allow?.join(', ')],
    ['denied tools', tools.deny.join(', ')],
    ['core tools', server.core.join(', ')],
    ['changed tools', { block: 'are blocked', warn: 'are reported', off: 'are not checked' }[server.pin]],
    ['client id', oauth?.clientId],
  ]
}

export function noteWarnings(warnings: readonly string[], note: (line: string) => void): void {
  for (const warning of warnings) note(`warning: ${escapeHiddenCharacters(warning)}`)
}

export const describeState = ({ enabled, needsApproval }: HostedServer): string | undefined =>
  enabled ? (needsApproval ? 'needs_approval' : undefined) : 'disabled'

export function redactEntry(server: HostedServer): object {
  const { endpoint, ...options } = server
  const redactRecord = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        /^\$\{[^{}]*\}$/.test(value) || (!isSecretName(name) && endpoint.kind === 'stdio')
          ? value
          : redactedText,
      ]),
    )
  const redactedEntry =
    endpoint.kind === 'stdio'
      ? { command: describeEndpoint(endpoint), cwd: endpoint.cwd, env: redactRecord(endpoint.env) }
      : { url: describeEndpoint(endpoint), headers: redactRecord(endpoint.headers) }
  return {
    ...redactedEntry,
    ...options,
    ...(options.oauth && { oauth: { ...options.oauth, clientSecret: undefined } }),
  }
}
