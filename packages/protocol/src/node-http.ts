/**
 * Returns `node:http`. An ES import would read its getter `WebSocket` and so load Node's copy of undici: 2 MB of heap
 * (Node 24).
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')
