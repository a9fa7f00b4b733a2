import { BrowserRouter } from 'react-router'
import { OwnDocument } from './lib/own-document.tsx'
import { settleHistory } from './lib/reload.ts'
import { Router } from './router.tsx'

settleHistory()

export function App() {
  return (
    <BrowserRouter>
      <OwnDocument>
        <Router />
      </OwnDocument>
    </BrowserRouter>
  )
}
