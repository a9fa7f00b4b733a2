export { isMailCurrent, noteMailEnd } from './orders.mail.ts'
export { eraseBodies as eraseShopEvents } from './shop-events.repo.ts'
