startTable();
startPlots();
startUnits();
pick(pickAtFirst());
openAddressed();
performance.mark("ready");
