import { withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

const chat = () =>
  h('iframe', {
    class: 'element',
    src: withBase('/live/element.html'),
    title: 'The chat element: ask it how to reset a router',
    loading: 'lazy',
  })

/** On the home page the chat element over the emulator takes the place of a picture. */
export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': chat }),
}
