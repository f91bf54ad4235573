import t from 'tap'
import { proxyFor } from '../src/proxy.ts'

const used = (origin: string, env: NodeJS.ProcessEnv): boolean =>
  proxyFor(origin, 'env', { https_proxy: 'http://s:1', HTTP_PROXY: 'http://p:1', ...env }) !== undefined

t.test('proxyFor: the environment names one proxy for each scheme', async (t) => {
  t.equal(proxyFor('https://a', 'env', { HTTPS_PROXY: 'http://s:1' })?.host, 's:1')
  t.equal(proxyFor('http://a', 'env', { http_proxy: 'http://p:1', HTTPS_PROXY: 'http://s:1' })?.host, 'p:1')
  t.equal(proxyFor('http://a', 'env', { HTTPS_PROXY: 'http://s:1' }), undefined)
  t.equal(proxyFor('http://a', 'http://set:1', { http_proxy: 'http://p:1' })?.host, 'set:1')
})

t.test('proxyFor: NO_PROXY spares hosts, their subdomains and single ports', async (t) => {
  for (const entry of ['a.org', '.a.org', '*.a.org', '*', 'x, A.ORG', 'a.org:443'])
    t.notOk(used('https://b.a.org', { no_proxy: entry }), entry)
  for (const entry of ['', 'ba.org', 'org.', 'b.a', 'a.org:80', ' , '])
    t.ok(used('https://b.a.org', { NO_PROXY: entry }), entry)
})

t.test('proxyFor: what is no HTTP proxy is refused without its text', async (t) => {
  t.throws(() => proxyFor('http://a', 'socks5://u:hidden@h', {}), {
    code: 'INVALID_SETTING',
    message: /^((?!hidden).)*$/,
  })
})
