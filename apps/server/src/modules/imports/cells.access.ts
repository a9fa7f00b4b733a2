export { forever, readMoment } from './presets/values.ts'
