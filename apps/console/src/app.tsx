import { BrowserRouter } from 'react-router'
import { restoreHistory } from './lib/navigation/reload.ts'
import { OwnDocument } from './pages/own-document.tsx'
import { Router } from './router.tsx'

restoreHistory()

export function App() {
  return (
    <BrowserRouter>
      <OwnDocument>
        <Router />
      </OwnDocument>
    </BrowserRouter>
  )
}
