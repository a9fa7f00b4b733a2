import { BrowserRouter } from 'react-router'
import { settleHistory } from './lib/navigation/reload.ts'
import { OwnDocument } from './pages/own-document.tsx'
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
