import type { Module } from '../module.ts'

export const entitlements: Module = {}
