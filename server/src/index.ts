export { listBuiltInApps } from './apps.ts'
export { listSettings } from './config/config.ts'
