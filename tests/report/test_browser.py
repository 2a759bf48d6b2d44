#!/usr/bin/python3
"""The report in a real browser: Chromium without a window, driven by Selenium."""

import json
import os
import time
import unittest

import h5py
import numpy as np
from stores import ReportTest, report, stale

import synthetic
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

HOSTILE = ["<script>document.title='broken'</script>", "a\"b'c&amp;</script><!--{{data}}", "na\u00efve \u03a9 \u6f22\u5b57"]


def browser():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1300,1000"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Browser(ReportTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = browser()
        cls.addClassCleanup(cls.page.quit)
        cls.store = cls.copy("plain", cls.plain)
        report(cls.store, "-o", cls.folder / "plain.html")

    @staticmethod
    def plain(file):
        """Every unit and check has its own numbers."""
        units, checks = file["acc_eval"].shape
        file["acc_eval"][:] = np.linspace(0.2, 0.98, units * checks).reshape(units, checks)
        stale(file, [4, 6], slice(0, 2))

    def open(self, name="plain", where=""):
        self.page.get("about:blank")
        self.page.get_log("browser")
        self.page.get_log("performance")
        self.page.get(f"file://{self.folder}/{name}.html{where}")
        self.assertEqual(self.script("return performance.getEntriesByName('ready').length"), 1, self.page.get_log("browser"))
        if where:
            self.eventually(lambda: len(self.all(f"{where} .body")), 1)

    def tearDown(self):
        self.assertEqual(self.page.get_log("browser"), [])

    def script(self, text, *arguments):
        return self.page.execute_script(text, *arguments)

    def one(self, selector):
        return self.page.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.page.find_elements(By.CSS_SELECTOR, selector)

    def show(self, element):
        """Scroll there and wait until the page knows."""
        self.page.execute_async_script("arguments[0].scrollIntoView({block: 'center'}); requestAnimationFrame(() => requestAnimationFrame(arguments[1]))", element)
        return element

    def settle(self):
        """Wait two frames: charts answer in the next one."""
        self.page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def click(self, element):
        self.show(element).click()
        self.settle()

    def eventually(self, look, wanted):
        """What opens a section tells the page so a moment later."""
        for _ in range(100):
            if look() == wanted:
                break
            time.sleep(0.05)
        self.assertEqual(look(), wanted)

    def plotted(self, canvas="over-steps"):
        """[(unit or units, [[x, y] ...])] of the datasets of a plot."""
        return self.script("return Chart.getChart(arguments[0]).data.datasets.map((set) => [set.unit ?? set.units, set.data.map((p) => [p.x, p.y])])", canvas)

    def picture(self):
        return self.script("return document.getElementById('over-steps').toDataURL()")

    def values(self, name):
        with h5py.File(self.store) as file:
            return file[name][:]

    def test_nothing_leaves_the_file(self):
        self.open()
        requests = [json.loads(entry["message"])["message"] for entry in self.page.get_log("performance")]
        urls = {request["params"]["request"]["url"] for request in requests if request["method"] == "Network.requestWillBeSent"}
        self.assertEqual({url for url in urls if not url.startswith("data:")}, {f"file://{self.folder}/plain.html"})

    def test_plot_shows_what_the_store_holds(self):
        self.open()
        wanted = 100 * self.values("acc_eval")
        there = self.plotted()
        self.assertEqual([unit for unit, _ in there], list(range(8)))
        for unit, points in there:
            np.testing.assert_allclose(np.array(points), np.stack([self.values("check"), wanted[unit]], 1), rtol=1e-6)
        Select(self.one("#quantity")).select_by_value("lag")
        for unit, points in self.plotted():
            np.testing.assert_allclose(np.array(points)[:, 1], abs(self.values("mean_lag")[unit]).max(-1), rtol=1e-6)

    def test_picking_an_arm_changes_the_plot(self):
        self.open()
        before = self.picture()
        pick = self.one("#rows .pick[data-row='0']")
        self.click(pick)
        self.assertEqual(pick.get_attribute("aria-pressed"), "false")
        name = self.script("return DATA.rows[0].arm"), self.script("return DATA.rows[0].name")
        gone = [unit for unit in range(8) if self.script("return rowOf(arguments[0]).name", unit) == name[1]]
        self.assertEqual(len(gone), 2)
        self.assertEqual([unit for unit, _ in self.plotted()], [unit for unit in range(8) if unit not in gone])
        self.assertEqual(len(self.plotted("pairs")), 3)
        self.assertNotEqual(self.picture(), before)
        self.click(self.one("#legend .pick[data-row='0']"))
        self.assertEqual(self.picture(), before)
        self.click(self.one("[data-pick='none']"))
        self.assertEqual(self.plotted(), [])
        self.assertIn("No arm is shown", self.one("#over-steps-note").text)
        self.click(self.one("[data-pick='stale']"))
        self.assertEqual([unit for unit, _ in self.plotted()], [4, 6])

    def test_sorting(self):
        self.open()
        heads = self.all("#rows thead button")
        rows = lambda: self.script("return [...document.querySelectorAll('#rows tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")  # noqa: E731
        for place in (0, 1, 3, 4, 5, 7):
            with self.subTest(heads[place].text):
                self.click(heads[place])
                up = [row[place] for row in rows()]
                self.click(heads[place])
                down = [row[place] for row in rows()]
                number = lambda text: float(text.split()[0].rstrip("%\u00d7\u00b0")) if place else text  # noqa: E731, B023
                self.assertEqual([*map(number, up)], sorted(map(number, up)))
                self.assertEqual([*map(number, down)], sorted(map(number, up), reverse=True))
                self.assertEqual(heads[place].find_element(By.XPATH, "..").get_attribute("aria-sort"), "descending")

    def test_hovering(self):
        self.open()
        canvas = self.show(self.one("#over-steps"))
        x, y = self.script("""const chart = Chart.getChart('over-steps'), box = chart.canvas.getBoundingClientRect();
            const set = chart.data.datasets.findIndex((one) => one.unit === 5), point = chart.getDatasetMeta(set).data[1];
            return [point.x - box.width / 2, point.y - box.height / 2]""")
        ActionChains(self.page).move_to_element_with_offset(canvas, round(x), round(y)).perform()
        self.settle()
        said = self.one("#tip").text
        wanted = 100 * self.values("acc_eval")[5, 1]
        for part in ("unit 5: adam, bn_momentum 0.3", f"step 20: {wanted:.4g}%", "optimizer adam, lr 0.003", "seed 0", "status: done"):
            self.assertIn(part, said)
        ActionChains(self.page).click().perform()
        self.settle()
        self.eventually(lambda: self.script("return document.getElementById('unit-5').open"), True)

    def test_keyboard(self):
        self.open()
        self.show(self.one("#over-steps")).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP)
        self.assertIn("unit 1: sgd, bn_momentum 0.3", self.one("#tip").text)
        self.assertIn("step 20", self.one("#tip").text)
        self.one("#over-steps").send_keys(Keys.ENTER)
        self.eventually(lambda: self.script("return document.activeElement.parentElement.id"), "unit-1")

    def test_log_axes(self):
        self.open()
        for box, canvas, axis in (("steps-log-x", "over-steps", "x"), ("steps-log-y", "over-steps", "y"), ("pairs-log-y", "pairs", "y")):
            self.click(self.one(f"#{box}"))
            self.assertEqual(self.script("return Chart.getChart(arguments[0]).scales[arguments[1]].type", canvas, axis), "logarithmic")

    def test_every_quantity_and_pair(self):
        self.open()
        for name in [option.get_attribute("value") for option in Select(self.one("#quantity")).options]:
            Select(self.one("#quantity")).select_by_value(name)
        for name in [option.get_attribute("value") for option in Select(self.one("#across")).options]:
            Select(self.one("#across")).select_by_value(name)
            Select(self.one("#up")).select_by_value(name)
        Select(self.one("#lines")).select_by_value("median")
        Select(self.one("#quantity")).select_by_value("acc_eval")
        middle = self.script("return Chart.getChart('over-steps').data.datasets.filter((set) => set.bands).map((set) => [set.row, set.data[0].y])")
        for row, value in middle:
            units = [unit for unit in range(8) if self.script("return DATA.unitRow[arguments[0]]", unit) == row]
            self.assertAlmostEqual(value, 100 * np.median(self.values("acc_eval")[units, 0]), places=4)

    def test_unit_section(self):
        self.open(where="#unit-6")
        section = self.one("#unit-6")
        said = section.text
        for name in ("identity", "weights_hash", "statistics_hash"):
            self.assertIn(self.values(name)[6].decode(), said)
        self.assertIn("Farthest running mean -1.50 \u03c3 (conv2, channel 1) at step 10.", said)
        self.assertIn("Re-estimating gave 100.0% at step 40", said)
        self.eventually(lambda: len(section.find_elements(By.CSS_SELECTOR, "canvas[role=img]")), 4)
        self.assertEqual(len(self.all(".unit .body")), 1)
        self.click(section.find_element(By.CSS_SELECTOR, ".body details summary"))
        self.eventually(lambda: len(section.find_elements(By.CSS_SELECTOR, "table tbody tr")), 4)

    def test_finding_units(self):
        self.open()
        self.one("#find").send_keys("seed=1 sgd")
        self.assertEqual([unit.get_attribute("id") for unit in self.all(".unit")], ["unit-2", "unit-3"])
        self.one("#find").send_keys(" bn_momentum=0.3")
        self.assertEqual([unit.get_attribute("id") for unit in self.all(".unit")], ["unit-3"])

    def test_hostile_names(self):
        def change(file):
            self.plain(file)
            file["arm"][:] = [HOSTILE[unit // 3] for unit in range(8)]
            file["host"][:] = HOSTILE[0]
            file["reason"][7] = HOSTILE[1]
            file["status"][7] = 4
            for name in ("sweep", "ini", "engine"):
                file.attrs[name] = HOSTILE[1]
        report(self.copy("hostile", change), "-o", self.folder / "hostile.html")
        self.open("hostile", "#unit-7")
        self.assertEqual(self.page.title, HOSTILE[1] + ": report")
        self.assertEqual(self.one("h1").text, HOSTILE[1])
        arms = {button.text for button in self.all("#rows .pick")}
        self.assertEqual(arms, set(HOSTILE))
        self.assertEqual({self.script("return rowOf(arguments[0]).arm", unit) for unit in range(8)}, set(HOSTILE))
        self.assertIn(f"Reason: {HOSTILE[1]}", self.one("#unit-7").text)
        self.assertEqual(self.one("#provenance pre").get_attribute("textContent"), HOSTILE[1])
        self.assertEqual(len(self.all("script")), 3)
        self.assertEqual(len(self.plotted()), 8)

    def test_narrow(self):
        self.open(where="#unit-4")
        self.addCleanup(self.page.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        for width in (420, 320):
            self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": True})
            for _ in range(100):  # the plots follow the window a moment later
                widths = self.script("return [innerWidth, document.documentElement.scrollWidth]")
                if widths == [width, width]:
                    break
                time.sleep(0.1)
            self.assertEqual(widths, [width, width])

    def test_middle_of_a_run(self):
        def change(file):
            file["status"][:] = [0, 1, 1, 2, 2, 3, 2, 4]
            for name, values in file.items():
                if values.ndim > 1:
                    for unit, checks in ((0, 0), (1, 2), (2, 1), (5, 1), (7, 0)):
                        part = values[unit]
                        part[checks if name != "norm_init" else 0:] = np.nan
                        values[unit] = part
        report(self.copy("middle", change), "-o", self.folder / "middle.html")
        self.open("middle", "#unit-0")
        self.assertIn("No check was made yet.", self.one("#unit-0").text)
        self.assertEqual(len(self.plotted()), 8)
        self.click(self.one("#unit-1 summary"))
        self.eventually(lambda: len(self.all("#unit-1 canvas[role=img]")), 4)

    def test_two_thousand_units(self):
        synthetic.make(self.folder / "many.h5", 2000, checks=6, channels="4-4-6")
        report(self.folder / "many.h5", "-o", self.folder / "many.html")
        self.open("many")
        self.assertEqual(len(self.all(".unit")), 50)
        self.assertEqual(self.one("#found").text, "2,000 units")
        self.assertEqual(len(self.all("#rows tbody tr")), 30)
        self.assertEqual(self.one("#picked").text, "8 of 30 shown")
        self.page.get(f"file://{self.folder}/many.html#unit-1777")
        self.assertEqual(self.script("return document.getElementById('unit-1777').open"), True)


if __name__ == "__main__":
    unittest.main()
