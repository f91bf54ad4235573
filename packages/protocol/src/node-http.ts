/**
 * Returns `node:http` without an ES import, which would read the getter `WebSocket` and so load Node's copy of
 * undici: 2 MB of heap in the server (Node 24).
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')
