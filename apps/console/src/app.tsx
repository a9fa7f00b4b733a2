import { BrowserRouter } from 'react-router'
import { OwnDocument, restoreHistoryState } from './lib/own-document.tsx'
import { Router } from './router.tsx'

restoreHistoryState()

export function App() {
  return (
    <BrowserRouter>
      <OwnDocument>
        <Router />
      </OwnDocument>
    </BrowserRouter>
  )
}
