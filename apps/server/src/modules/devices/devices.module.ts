import type { Module } from '../module.ts'

export const devices: Module = {}
