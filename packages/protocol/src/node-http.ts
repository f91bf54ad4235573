/**
 * Avoids an ES import of `node:http`, which reads the getter `WebSocket` and so loads Node's copy of undici: 2 MB
 * of heap in the server (Node 24).
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')
