export { ImportPreview } from './import-preview.tsx'
export { ImportResult } from './import-result.tsx'
