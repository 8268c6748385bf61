# One-sample logrank against individual curves with its own variance, on the prediction matrices:
# E = sum of h_s(x_i), V = sum of h(1-h) over the bins at risk, chisq = (O-E)^2/V. Overall and by subgroup (the same ones as 07_pred.R).
# Rscript 10_individual.R PRED_FOLDER OUT.json   (run beside lib.R; PRED_FOLDER holds NAME.csv.gz)
args<-commandArgs(TRUE); suppressMessages(library(jsonlite)); eval(parse(text=readLines("lib.R")[-1])) # all of lib.R but its packages
score<-function(t,s,P){ S<-cbind(1,P); E<-V<-0
  for(i in seq_along(t)){ h<-1-S[i,2:(t[i]+1)]/S[i,1:t[i]]; E<-E+sum(h); V<-V+sum(h*(1-h)) }
  x<-(sum(s)-E)^2/V; list(observed=sum(s),expected=E,variance=V,chisq=x,log_p=pchisq(x,1,lower.tail=FALSE,log.p=TRUE)) }
out<-list()
for(f in list.files(args[1],"csv.gz$",full.names=TRUE)){ R<-read.csv(f); P<-as.matrix(R[,paste0("S",1:TAU)])
  g<-setdiff(names(R),c("row","bin","event",paste0("S",1:TAU)))
  by<-setNames(lapply(g,function(n){v<-R[[n]]; lv<-sort(unique(v)); lv<-lv[vapply(lv,function(q) sum(v==q)>=20&&sum(R$event[v==q])>=2,TRUE)]
    setNames(lapply(lv,function(q) score(R$bin[v==q],R$event[v==q],P[v==q,,drop=FALSE])),as.character(lv))}),g)
  out[[sub(".csv.gz","",basename(f),fixed=TRUE)]]<-list(overall=score(R$bin,R$event,P),subgroups=by) }
writeLines(gsub("\n *","",tj(out)),args[2])
